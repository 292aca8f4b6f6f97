import { builtIn } from './builtin.ts';
import { adaptDecision, type DecisionTexts } from './decisions.ts';
import texts from './reportdecision.json' with { type: 'json' };

/** To a person who reported content: what operators decided, and why. */
export const reportDecision = builtIn<DecisionTexts>({
  name: 'report.decision',
  audience: 'account',
  adapt: adaptDecision,
  texts,
});
