import { z } from 'zod';

export const periods = ['day', 'month'] as const;
export type Period = (typeof periods)[number];

/** AGENT_BUDGET_DAILY_USD or AGENT_BUDGET_MONTHLY_USD, which apply until an operator sets or removes the budget. */
export interface Budget {
  readonly period: Period;
  readonly budgetUsd: number;
}

export const budgetList = z.object({
  budgets: z
    .array(
      z.object({
        period: z.enum(periods),
        start: z.string().describe('The first day of the current day or month, in UTC.'),
        budgetUsd: z.number().describe('In US dollars.'),
        changedAt: z.iso.datetime().nullable().describe('When an operator set it. `null`: it comes from the setting.'),
        spentUsd: z.number().describe('The sum of `costUsd` in the period, in US dollars.'),
        percent: z.int().describe('The part of the budget that is spent, rounded down. It can be above 100.'),
      }),
    )
    .describe('Budgets that are set.'),
});
export type BudgetList = z.output<typeof budgetList>;

export const budgetPath = z.object({ period: z.enum(periods) });
export const budgetChange = z.strictObject({
  budgetUsd: z.number().positive().max(999_999_999).nullable().describe('In US dollars. `null`: no budget.'),
});
