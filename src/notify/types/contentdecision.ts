import { builtIn } from './builtin.ts';
import texts from './contentdecision.json' with { type: 'json' };
import { adaptDecision, type DecisionTexts } from './decisions.ts';

/** To the owner of content that was reported or flagged: what operators decided, why, and how to appeal. */
export const contentDecision = builtIn<DecisionTexts>({
  name: 'content.decision',
  audience: 'account',
  adapt: adaptDecision,
  texts,
});
