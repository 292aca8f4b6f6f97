/** The mails about a decision of operators (docs/specification/media.md#reports). */
import { z } from 'zod';
import { invalid } from '#platform/problem.ts';
import { type AdaptedTexts, builtIn, type MailTexts } from './builtin.ts';
import contentTexts from './contentdecision.json' with { type: 'json' };
import type { MailFacts } from './notification.ts';
import reportTexts from './reportdecision.json' with { type: 'json' };

interface DecisionTexts extends MailTexts {
  readonly dismiss: string;
  readonly restrict: string;
  readonly remove: string;
  /** Above the statement. */
  readonly reasons: string;
  /** For the owner of restricted or removed content. */
  readonly appeal?: string;
}

const decision = z.enum(['dismiss', 'restrict', 'remove']);
const statement = z.string().max(5000);

/** Without data, as in a preview, the mail is about a restriction. */
function adaptDecision(texts: DecisionTexts, { data }: MailFacts): AdaptedTexts {
  const decided = decision.safeParse(data.decision ?? 'restrict');
  if (!decided.success) throw invalid('body.data.decision', 'must be dismiss, restrict or remove');
  const stated = statement.safeParse(data.statement ?? '');
  if (!stated.success) throw invalid('body.data.statement', 'must be a text of at most 5,000 characters');
  const lines = stated.data.split(/\n+/).filter((line) => line.trim() !== '');
  const hasAppeal = decided.data !== 'dismiss' && texts.appeal !== undefined;
  return {
    ...texts,
    // Only owners can appeal. People who report content need no account.
    about: texts.appeal === undefined ? 'report' : 'account',
    paragraphs: [
      texts[decided.data],
      ...(lines.length === 0 ? [] : [texts.reasons]),
      // As values: what an operator wrote has no placeholders.
      ...lines.map((_line, index) => `{line${index}}`),
      ...(hasAppeal ? [String(texts.appeal)] : []),
    ],
    values: Object.fromEntries(lines.map((line, index) => [`line${index}`, line])),
  };
}

/** To the owner of content that was reported or flagged: what operators decided, why, and how to appeal. */
export const contentDecision = builtIn<DecisionTexts>({
  name: 'content.decision',
  audience: 'account',
  adapt: adaptDecision,
  texts: contentTexts,
});

/** To a person who reported content: what operators decided, and why. */
export const reportDecision = builtIn<DecisionTexts>({
  name: 'report.decision',
  audience: 'account',
  adapt: adaptDecision,
  texts: reportTexts,
});
