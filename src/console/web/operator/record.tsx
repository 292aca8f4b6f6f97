/** How runs and generations are described. */
import type { ShownRun } from '../../runs/api.ts';
import { countOf } from '../parts/figures.tsx';
import { moneyOf, tookOf } from './units.ts';

export const runTones = {
  queued: 'busy',
  running: 'busy',
  completed: 'good',
  failed: 'bad',
  aborted: 'quiet',
  canceled: 'quiet',
} as const;

export function factsOf(run: ShownRun): readonly string[] {
  const { steps, tools, inputTokens, outputTokens, credits, costUsd, createdAt, endedAt, restarts } = run;
  return [
    ...(endedAt === null ? [] : [tookOf(createdAt, endedAt)]),
    ...(steps === null ? [] : [steps === 1 ? '1 step' : `${countOf(steps)} steps`]),
    ...(tools.length === 0 ? [] : [[...new Set(tools)].join(', ')]),
    ...(inputTokens === null && outputTokens === null
      ? []
      : [`${countOf(inputTokens ?? 0)} + ${countOf(outputTokens ?? 0)} tokens`]),
    ...(credits === null ? [] : [credits === 1 ? '1 credit' : `${countOf(credits)} credits`]),
    ...(costUsd === null || costUsd === 0 ? [] : [moneyOf(costUsd)]),
    ...(restarts === 0 ? [] : [restarts === 1 ? 'continued once' : `continued ${restarts} times`]),
  ];
}

export function Failed({ error, answer }: { readonly error: string | null; readonly answer: string | null }) {
  return (
    <>
      {error !== null && <p className="problem">{error}</p>}
      {answer !== null && <pre className="wrapped record-answer">{answer}</pre>}
    </>
  );
}
