/** One run or generation: the failure and the figures, then the steps, and the stream last. */
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { PeoplePage } from '#accounts/people/api.ts';
import type { GenerationRecord, GenerationRecordPage } from '#agent/records/api.ts';
import type { Replay, ShownRun } from '../../runs/api.ts';
import { CallFailed, callJson } from '../calls.ts';
import { useConsole } from '../operator.tsx';
import { countOf, momentOf, plural } from '../parts/figures.tsx';
import { useRead } from '../parts/server.ts';
import { Empty, Failure, Section, Status } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import { CopyButton } from '../studio/copybutton.tsx';
import { Entry, EntryPage, OrderLink } from './entry.tsx';
import * as names from './names.tsx';
import { Files, Pictures } from './places.tsx';
import { timeOf, tookOf } from './units.ts';

export function GenerationPage({ id }: { readonly id: string }) {
  const { data: page, error, refetch } = useRead<GenerationRecordPage>('/api/generations', { id });
  const query = { data: page?.generations[0], error: page ? noSuchOrder : error, refetch };
  return (
    <EntryPage of={query} kind="order" list={['/operator/runs', 'All images and videos']}>
      {(one) => <Generation one={one} />}
    </EntryPage>
  );
}

const noSuchOrder = new CallFailed(404, {});

function Generation({ one }: { readonly one: GenerationRecord }) {
  const { id, taskId, prompt, model, status, count, delivered, credits, createdAt, orderedAt, endedAt } = one;
  const nameOf = names.useModelNames();
  const cost = useGenerationCost(one);
  return (
    <div className="stack">
      <Head of={one} name={prompt ?? unread} />
      <Failed {...failureOf(one)} kind={status === 'failed' ? 'generations' : undefined} />
      {status === 'refused' && <Refused of={one} />}
      <Pairs
        className="desk-tiles"
        of={{
          Kind: kindOf(one),
          Ratio: one.ratio ?? 'not set',
          Model: <span title={model}>{nameOf(model)}</span>,
          Delivered: `${delivered} of ${count}`,
          Took: durationOf(one),
          Credits: credits === null ? unknown : countOf(credits),
          Cost: cost,
        }}
      />
      {endedAt !== null && delivered < count && status !== 'refused' && (
        <p className="quiet">
          Only what is delivered is charged.
          {one.price !== null && ` The other ${creditsOf(one.price * (count - delivered))} were returned.`}
        </p>
      )}
      <section className="card" aria-label="Record">
        <Pairs
          of={{
            Ordered: momentOf(createdAt),
            ...(orderedAt !== null && { Started: `after ${tookOf(createdAt, orderedAt)}` }),
            ...(endedAt !== null && { Ended: momentOf(endedAt) }),
            ...Object.fromEntries(Object.entries(one.parameters).map(([name, value]) => [name, String(value)])),
            ...(one.failureCode !== null && { Code: <code>{one.failureCode}</code> }),
            'Order id': <names.Id of={id} name="order id" />,
            ...idsOf(one),
            ...(taskId !== null && { Run: <Link href={`/operator/runs/${taskId}`}>The run that ordered it</Link> }),
          }}
        />
      </section>
      <Files of={one} />
      {one.references.length > 0 && (
        <Section title="References" className="card stack">
          <Pictures of={one.references} alt="the reference" />
        </Section>
      )}
    </div>
  );
}

/** Its price, and the balance when it was refused, if that is stored. */
function Refused({ of: { userId, required, balance } }: { readonly of: GenerationRecord }) {
  const { data } = useRead<PeoplePage>('/api/people', { ids: userId });
  const current = data?.people.find(({ id }) => id === userId)?.credits;
  const has = balance === null ? current !== undefined && `has now ${creditsOf(current)}` : `had ${creditsOf(balance)}`;
  return (
    <p>
      {required !== null && `The price is ${creditsOf(required)}. `} {has && `This person ${has}. `}
      <Link href={`/operator/people/${userId}`}>Change the credits or the plan</Link>
    </p>
  );
}

type Ended = Pick<ShownRun | GenerationRecord, 'status'> & Partial<Pick<ShownRun, 'finishReason'>>;
const isStopped = ({ finishReason }: Partial<Pick<ShownRun, 'finishReason'>>) => finishReason === 'max-steps';
export const toneOf = (one: Ended) => (isStopped(one) ? 'quiet' : runTones[one.status]);
export const stepsOf = ({ steps, ...run }: Pick<ShownRun, 'steps' | 'finishReason'>): string =>
  `${isStopped(run) ? 'stopped at the limit of ' : ''}${plural(steps ?? 0, 'step')}`;

interface HeadProps {
  readonly of: Ended & Pick<ShownRun | GenerationRecord, 'createdAt' | 'userId'>;
  readonly name: string;
  readonly children?: ReactNode;
}

function Head({ of: { createdAt, userId, ...one }, name, children }: HeadProps) {
  return (
    <header className="page desk-head">
      <div>
        <h1>{name}</h1>
        <p className="quiet">
          <names.PersonLink id={userId} />, {momentOf(createdAt)}
          {children}
        </p>
      </div>
      <Status tone={toneOf(one)}>{one.status}</Status>
    </header>
  );
}

export function RunPage({ taskId }: { readonly taskId: string }) {
  const query = useRead<ShownRun>(`/api/runs/${encodeURIComponent(taskId)}`);
  return (
    <EntryPage of={query} kind="run" list={['/operator/runs', 'All runs']}>
      {(run) => <Details run={run} />}
    </EntryPage>
  );
}

const unknown = <span className="quiet">not known</span>;
const numberOf = (value: number | null) => (value === null ? unknown : countOf(value));

const idsOf = ({ requestId, traceId, traceUrl = null }: Ids) => ({
  'Request id': requestId === null ? unknown : <names.Id of={requestId} name="request id" />,
  'Trace id': traceId === null ? unknown : <names.Id of={traceId} name="trace id" url={traceUrl} />,
});
type Ids = Pick<ShownRun, 'requestId' | 'traceId'> & Partial<Pick<ShownRun, 'traceUrl'>>;

function Details({ run }: { readonly run: ShownRun }) {
  const { model, request, threadId, endedAt, tools } = run;
  const title = names.useThreadTitle(threadId);
  const nameOf = names.useModelNames();
  const costOf = names.useCosts();
  const agent = useConsole().data?.addresses.agent;
  const enabled = tools.some((tool) => /^(generate|edit)(Image|Video)$/.test(tool));
  const { taskId } = run;
  const made = useRead<GenerationRecordPage>('/api/generations', { taskId }, { enabled }).data?.generations ?? [];
  return (
    <div className="stack">
      <Head of={run} name={request ?? (title === names.untitled ? unread : title)}>
        {title !== names.untitled && (
          <>
            , in{' '}
            <Link href={`/operator/runs?threadId=${encodeURIComponent(threadId)}`}>
              {title === request ? 'its conversation' : `“${title}”`}
            </Link>
          </>
        )}
      </Head>
      <Failed error={run.error} answer={run.answer} kind="runs" />
      {isStopped(run) && <p>The run {stepsOf(run)}, so its answer can be incomplete.</p>}
      <Pairs
        className="desk-tiles"
        of={{
          Model: <span title={model}>{nameOf(model)}</span>,
          Took: endedAt === null ? 'not over' : tookOf(run.createdAt, endedAt),
          'Tokens in': numberOf(run.inputTokens),
          'Tokens out': numberOf(run.outputTokens),
          Credits: numberOf(run.credits),
          Cost: costOf(run.costUsd, model),
        }}
      />
      {made.map((one) => (
        <Made key={one.id} one={one} />
      ))}
      {run.timeline.length > 0 && <Steps of={run.timeline} />}
      <section className="card" aria-label="Record">
        <Pairs
          of={{
            ...(run.answeredBy !== null && { 'Answered by': nameOf(run.answeredBy) }),
            ...(run.errorCode !== null && { Code: <code>{run.errorCode}</code> }),
            ...(run.restarts > 0 && { Continued: countOf(run.restarts) }),
            'Run id': <names.Id of={run.taskId} name="run id" />,
            ...idsOf(run),
            ...(agent !== undefined &&
              request !== null && { 'Run again': <Again curl={curlOf(agent, model, request)} /> }),
          }}
        />
      </section>
      {endedAt !== null && <Stream taskId={run.taskId} />}
    </div>
  );
}

/** A desk must not write to the conversation of a user, so the operator repeats a request as a user of their own. */
const Again = ({ curl }: { readonly curl: string }) => (
  <span className="record-id">
    As yourself, in a temporary conversation, for your own credits
    <CopyButton label="Copy the request as curl" read={() => curl} />
  </span>
);

function curlOf(agent: string, model: string, text: string): string {
  const message = { role: 'user', parts: [{ type: 'text', text }] };
  const json = JSON.stringify({ threadId: `again-${crypto.randomUUID()}`, temporary: true, model, message });
  const headers = `-H 'Authorization: Bearer <access token>' -H 'Content-Type: application/json'`;
  return `curl ${agent}/task ${headers} -d '${json.replaceAll("'", "'\\''")}'`;
}

export function durationOf({ endedAt, tookMs, status }: GenerationRecord): ReactNode {
  if (endedAt === null) return 'not over';
  if (status === 'refused') return <names.Unknown why="refused before it started" />;
  return tookMs ? timeOf(tookMs) : <names.Unknown why="not measured" />;
}

/** The images of the run, or one of its videos. */
function Made({ one }: { readonly one: GenerationRecord }) {
  const { id, kind, count, delivered, prompt, assetIds } = one;
  const cost = useGenerationCost(one);
  const nameOf = names.useModelNames();
  return (
    <section className="card stack" aria-label={kind === 'video' ? 'Video' : 'Images'}>
      <h2>
        {delivered} of {plural(count, kind)} delivered
      </h2>
      <p className="quiet record-facts">
        <span>{nameOf(one.model)}</span> <span>{durationOf(one)}</span> <span>{creditsOf(one.credits ?? 0)}</span>{' '}
        <span>{cost}</span> <OrderLink id={id} />
      </p>
      {kind === 'video' && <Failed {...failureOf(one)} />}
      {prompt !== null && <p className="desk-quote">{prompt}</p>}
      {assetIds.length > 0 && <Pictures of={assetIds} alt={`the ${kind}`} />}
    </section>
  );
}

const longestSearch = 200;
type Reason = Pick<ShownRun, 'error' | 'answer'>;

type Kind = 'runs' | 'generations';

/** The search finds a part of a failure. Users see the same failure for different answers of a provider. */
function reasonOf({ error, answer }: Reason): string {
  // In the stored JSON, characters from the first quote on can be escaped.
  const quoted = /^(?:\d{3},? )?([^"\\\n]*)/.exec(wordsOf(answer ?? '', error))?.[1];
  return (quoted || (error ?? '')).slice(0, longestSearch);
}
const sameReasonHref = (q: string, kind: Kind) =>
  `/operator/runs?${new URLSearchParams({ status: 'failed', q, ...(kind === 'generations' && { kind }) })}`;

/** The most frequent first. */
export function groupsOfFailures(all: readonly Reason[]) {
  const failures = all.filter(({ error }) => error !== null);
  const groups = [...Map.groupBy(failures, reasonOf)].map(([reason, { length: count }]) => ({ reason, count }));
  return groups.toSorted((one, other) => other.count - one.count);
}

/** Failures of a list that share their reason, each with a search for them all. */
export function EqualFailures({ of: failures, kind }: { readonly of: readonly Reason[]; readonly kind: Kind }) {
  const groups = groupsOfFailures(failures).filter(({ count }) => count > 1);
  if (groups.length === 0) return null;
  return (
    <p className="record-facts record-groups">
      <span className="quiet">Failed for the same reason:</span>
      {groups.slice(0, 5).map(({ reason, count }) => (
        <Link key={reason} href={sameReasonHref(reason, kind)}>
          {countOf(count)} × {reason}
        </Link>
      ))}
    </p>
  );
}

/** A bar begins where the step or the call began: a step after the calls before it, and its calls together after the step. */
function Steps({ of: steps }: { readonly of: ShownRun['timeline'] }) {
  let totalMs = 0;
  const parts = steps.flatMap(({ calls, inputTokens, outputTokens, ...step }) => {
    const startMs = totalMs;
    const callsMs = startMs + (step.tookMs ?? 0);
    totalMs = callsMs + Math.max(0, ...calls.map(({ tookMs }) => tookMs ?? 0));
    const tokens =
      inputTokens === null && outputTokens === null
        ? 'tokens not known'
        : `${countOf(inputTokens ?? 0)} tokens in, ${countOf(outputTokens ?? 0)} out`;
    const model = { ...step, name: 'Model', answer: null, code: undefined, tokens, startMs };
    return [model, ...calls.map((call) => ({ ...call, tokens: null, startMs: callsMs }))];
  });
  const share = (ms: number) => `${(100 * ms) / Math.max(1, totalMs)}%`;
  return (
    <Section title="Steps">
      <ol className="lines" aria-label="Steps">
        {parts.map(({ name, tokens, tookMs, startMs, failure, answer, code }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps and calls are known by their place
          <li key={index} className={tokens === null ? 'record-call' : undefined}>
            <div className="desk-line">
              <span>
                {tokens === null ? <code>{name}</code> : <span className="strong">{name}</span>}{' '}
                <span className="quiet">{tokens}</span>{' '}
                {failure !== null && (
                  <Status tone={isRefused(code) ? 'quiet' : 'bad'}>{isRefused(code) ? 'refused' : 'failed'}</Status>
                )}
              </span>
              <span className="record-took">
                <span className="desk-figure">{tookMs === null ? 'not measured' : timeOf(tookMs)}</span>
                <span className="record-bar" aria-hidden="true">
                  <span style={{ marginInlineStart: share(startMs), width: share(tookMs ?? 0) }} />
                </span>
              </span>
            </div>
            <Failed error={failure} answer={answer} code={code} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Stream({ taskId }: { readonly taskId: string }) {
  const reading = useMutation({ mutationFn: () => callJson<Replay>(`/api/runs/${encodeURIComponent(taskId)}/events`) });
  const replay = reading.data;
  return (
    <Section
      title="Stream"
      more={
        replay === undefined && (
          <button type="button" disabled={reading.isPending} onClick={() => reading.mutate()}>
            {reading.isPending ? 'Reading …' : 'Read the stream'}
          </button>
        )
      }
    >
      {replay === undefined && (
        <p className="quiet">The stream contains the conversation. The audit log records that you read it.</p>
      )}
      {reading.error && <Failure error={reading.error} />}
      {replay?.events.length === 0 && <Empty title="The stream is no longer stored." />}
      {replay !== undefined && replay.events.length > 0 && (
        <ol className="lines" aria-label="Events of the stream">
          {replay.events.map(({ id, type, pieces, text }) => (
            <li key={id}>
              <Entry
                title={type}
                status={pieces > 1 && <span className="quiet">{countOf(pieces)} pieces</span>}
                more={text !== '' && <CopyButton label={`Copy the text of ${type}`} read={() => text} />}
              >
                {text !== '' && <pre className="wrapped record-answer">{text}</pre>}
              </Entry>
            </li>
          ))}
        </ol>
      )}
      {replay?.isCut && <p className="quiet">Only the first 1,000 events are shown.</p>}
    </Section>
  );
}

// How runs and generations are described.

const runTones = {
  queued: 'busy',
  running: 'busy',
  completed: 'good',
  failed: 'bad',
  aborted: 'quiet',
  canceled: 'quiet',
  refused: 'quiet',
} as const;

export const creditsOf = (credits: number) => plural(credits, 'credit');

export const unread = 'A deleted or temporary message';

/** The user could not pay. */
const isRefused = (code?: string | null) => code === 'insufficient_credits' || code === 'insufficient_plan';

/** The failures of tools, one of each. The run can be completed nevertheless. */
export function ToolFailures({ of: { timeline } }: { readonly of: ShownRun }) {
  const failed = timeline.flatMap(({ calls }) => calls).filter(({ failure }) => failure !== null);
  return [...new Map(failed.map((call) => [call.name, call])).values()].map(({ name, failure, answer, code }) => (
    <div key={name}>
      <Failed error={`${name}: ${failure}`} answer={answer} code={code} />
    </div>
  ));
}

/** Images without a run have no stored cost. It follows from the price. */
export function useGenerationCost({ model, costUsd, delivered, kind }: GenerationRecord): ReactNode {
  const price = names.useModels().data?.media.find((one) => one.id === model && one.kind === kind)?.costUsd ?? null;
  return names.useCosts()(costUsd ?? (price === null ? null : price * delivered), model);
}

export const kindOf = ({ kind, count }: GenerationRecord) =>
  kind === 'video' ? 'Video' : count === 1 ? 'Image' : `${count} images`;

export const failureOf = ({ failure: error, failureCode: code, answer }: GenerationRecord) => ({ error, code, answer });

type FailedProps = Reason & { readonly code?: string | null | undefined; readonly kind?: Kind | undefined };

/** The failure as the user sees it, and the answer of the provider, if that is more. `kind`: with a search for others. */
export function Failed({ error, answer, code, kind }: FailedProps) {
  const words = answer === null ? '' : wordsOf(answer, error);
  return (
    <>
      {error !== null && <p className={isRefused(code) ? 'quiet' : 'problem'}>{error}</p>}
      {words !== '' && (
        <p className="record-answer wrapped">
          <span className="quiet">From the provider:</span> {words}
        </p>
      )}
      {kind && error !== null && (
        <Link href={sameReasonHref(reasonOf({ error, answer }), kind)}>Other failures with this reason</Link>
      )}
    </>
  );
}

/** Of lines such as `500 {"error":{"message":"…"}}`, the message. Other texts stay as they are, but for what the user sees. */
const wordsOf = (answer: string, error: string | null): string =>
  [...new Set(answer.split('\n').map(messageOf))]
    .filter((line) => line !== '' && !error?.endsWith(line.replace(/^\d{3} /, '')))
    .join('\n');

function messageOf(line: string): string {
  const [, status = '', body = line] = /^(?:(\d{3}) )?(\{.*\})$/.exec(line.trim()) ?? [];
  try {
    const { error, message = error } = JSON.parse(body) as { error?: unknown; message?: unknown };
    const text = typeof message === 'string' ? message : Reflect.get(Object(error), 'message');
    if (typeof text === 'string') return status === '' ? text : `${status}, ${text}`;
  } catch {
    // No JSON: the text of a server or of a proxy.
  }
  return line;
}
