import { z } from 'zod';
import type { ContentLanguage } from '#platform/language.ts';
import { invalid } from '#platform/problem.ts';
import texts from './budgetreached.json' with { type: 'json' };
import { builtIn, formatDate } from './builtin.ts';

/** Without data, as in a preview, the mail is about a whole budget. */
const facts = z.object({
  period: z.enum(['day', 'month']).default('day'),
  /** The first day of the period. */
  start: z.iso.date().optional(),
  percent: z.number().default(100),
  budgetUsd: z.number().default(100),
  spentUsd: z.number().default(100),
  /** Of the page that shows the costs. */
  url: z.url({ protocol: /^https?$/ }).optional(),
});

/** To an operator: a part of a budget is spent. */
export const budgetReached = builtIn({
  name: 'budget.reached',
  audience: 'account',
  adapt: (texts, { data, language, now }) => {
    const parsed = facts.safeParse(data);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw invalid(`body.data.${issue?.path.join('.')}`, issue?.message ?? 'is invalid');
    }
    const { period, start, percent, budgetUsd, spentUsd, url } = parsed.data;
    const first = start === undefined ? now : new Date(start);
    const usd = formatOf(language, { style: 'currency', currency: 'USD' });
    return {
      ...{ ...texts, url },
      values: {
        percent: formatOf(language, { style: 'percent' })(percent / 100),
        budget: usd(budgetUsd),
        spent: usd(spentUsd),
        period: period === 'day' ? formatDate(first, language) : formatMonth(first, language),
      },
    };
  },
  texts,
});

function formatOf(language: ContentLanguage, options: Intl.NumberFormatOptions): (value: number) => string {
  const format = new Intl.NumberFormat(language.replace('_', '-'), options);
  return (value) => format.format(value);
}

function formatMonth(date: Date, language: ContentLanguage): string {
  const options = { year: 'numeric', month: 'long', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat(language.replace('_', '-'), options).format(date);
}
