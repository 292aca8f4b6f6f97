/** Runs and generations of all users: what was requested, how it went, what it cost, and why it failed. */
import './desk.css';
import './operator.css';
import './runs.css';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useParams, useSearchParams } from 'wouter';
import type { GenerationRecord, GenerationRecordPage } from '#agent/records/api.ts';
import type { Replay, ShownRun, ShownRunPage } from '../../runs/api.ts';
import { callJson } from '../calls.ts';
import { Choices } from '../parts/choices.tsx';
import { Choice, TextField } from '../parts/fields.tsx';
import { countOf, momentOf, When } from '../parts/figures.tsx';
import { Filters, Listing, SearchField, useFilters, usePages } from '../parts/listing.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, Failure, PageHead, Pending, Status } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import {
  BackLink,
  Id,
  PersonLink,
  Pictures,
  untitled,
  useCosts,
  useModelNames,
  useModels,
  useThreadTitle,
} from './names.tsx';
import { timeOf, tookOf } from './units.ts';

export function Runs() {
  const { taskId } = useParams<{ taskId?: string }>();
  const [search] = useSearchParams();
  const id = search.get('id');
  if (taskId !== undefined) return <RunPage key={taskId} taskId={taskId} />;
  return id === null ? <Records /> : <GenerationPage key={id} id={id} />;
}

const kinds = [
  ['runs', 'Runs'],
  ['generations', 'Images and videos'],
] as const;

const statuses = {
  runs: ['failed', 'running', 'queued', 'completed', 'aborted'],
  generations: ['failed', 'running', 'completed', 'canceled'],
} as const;

function Records() {
  const { of, change } = useFilters();
  const kind = of('kind') === 'generations' ? 'generations' : 'runs';
  const [userId, threadId] = [of('userId'), of('threadId')];
  const query = { status: of('status'), model: of('model'), q: of('q'), from: of('from'), to: of('to'), userId };
  const dayField = (name: 'from' | 'to', label: string) => (
    <TextField label={label} type="date" value={query[name]} onChange={(value) => change({ [name]: value })} />
  );
  return (
    <div className="operator">
      <PageHead title="Runs">
        {kind === 'runs'
          ? 'Answers of the agent, newest first. A run is removed some time after its end, with its stream.'
          : 'Images and videos of all users, newest first. The images of one run are one entry.'}
      </PageHead>
      <Choices
        label="Kind"
        of={kinds}
        chosen={kind}
        choose={(value) => change({ kind: value === 'runs' ? '' : value, status: '', model: '', threadId: '' })}
      />
      <Filters className="record-filters">
        <SearchField
          label="Search"
          placeholder={`${kind === 'runs' ? 'Request' : 'Prompt'}, error, email, id or trace id`}
          value={query.q}
          onChange={(q) => change({ q })}
        />
        <Choice
          label="Status"
          choices={[['', 'All'], ...statuses[kind].map((status) => [status, status] as const)]}
          value={query.status}
          onChange={(status) => change({ status })}
        />
        <ModelChoice kind={kind} value={query.model} onChange={(model) => change({ model })} />
        {dayField('from', 'From')}
        {dayField('to', 'To')}
      </Filters>
      {userId !== '' && (
        <p className="record-person">
          Of <PersonLink id={userId} />
          <button type="button" onClick={() => change({ userId: '' })}>
            All people
          </button>
        </p>
      )}
      {threadId !== '' && (
        <p className="record-person">
          In <Conversation id={threadId} />
          <button type="button" onClick={() => change({ threadId: '' })}>
            All conversations
          </button>
        </p>
      )}
      {kind === 'runs' ? <RunList query={{ ...query, threadId }} /> : <GenerationList query={query} />}
    </div>
  );
}

const Conversation = ({ id }: { readonly id: string }) => <span className="desk-name">“{useThreadTitle(id)}”</span>;

interface ModelChoiceProps {
  readonly kind: 'runs' | 'generations';
  readonly value: string;
  readonly onChange: (model: string) => void;
}

/** The configured models. A former one that a link names is listed too. */
function ModelChoice({ kind, value, onChange }: ModelChoiceProps) {
  const { data } = useModels();
  const known = (kind === 'runs' ? data?.models : data?.media) ?? [];
  const former = value === '' || known.some(({ id }) => id === value) ? [] : [{ id: value, label: value }];
  const all = [...known, ...former];
  // The offline renderers have one name.
  const nameOf = ({ id, label }: (typeof all)[number]) =>
    all.some((one) => one.id !== id && one.label === label) ? `${label}, ${id}` : label;
  const choices = [['', 'All'] as const, ...all.map((one) => [one.id, nameOf(one)] as const)];
  return <Choice label="Model" choices={choices} value={value} onChange={onChange} />;
}

type Query = Readonly<Record<string, string>>;

const none = (
  <Empty title="Nothing matches.">
    <p className="quiet">
      A search covers the newest 10,000. Runs that ended longer ago than AGENT_TASK_TTL_SECS are removed.
    </p>
  </Empty>
);

function RunList({ query }: { readonly query: Query }) {
  const pages = usePages<ShownRunPage>('runs', '/api/runs', query);
  return (
    <Listing pages={pages} label="Runs" itemsOf={({ runs }) => runs} keyOf={({ taskId }) => taskId} empty={none}>
      {(run) => <RunRow run={run} />}
    </Listing>
  );
}

const unread = 'A deleted or temporary message';

function RunRow({ run }: { readonly run: ShownRun }) {
  const { taskId, threadId, userId, status, model, error, answer, request, createdAt } = run;
  const title = useThreadTitle(threadId);
  const nameOf = useModelNames();
  const costOf = useCosts();
  return (
    <Row
      to={`/operator/runs/${taskId}`}
      name={request ?? (title === untitled ? unread : title)}
      status={status}
      at={createdAt}
      userId={userId}
      facts={[
        <span key="model" title={model}>
          {nameOf(model)}
        </span>,
        ...factsOf(run),
        costOf(run.costUsd, model),
      ]}
    >
      {request !== null && title !== request && title !== untitled && (
        <p className="quiet record-facts">
          <Link href={`/operator/runs?threadId=${encodeURIComponent(threadId)}`}>In “{title}”</Link>
        </p>
      )}
      <Failed error={error} answer={answer} />
      <ToolFailures of={run} />
    </Row>
  );
}

/** The failures of tools, one of each. The run can be completed nevertheless. */
function ToolFailures({ of: { timeline } }: { readonly of: ShownRun }) {
  const failed = timeline.flatMap(({ calls }) => calls).filter(({ failure }) => failure !== null);
  return [...new Map(failed.map((call) => [call.name, call])).values()].map(({ name, failure, answer }) => (
    <div key={name}>
      <Failed error={`${name}: ${failure}`} answer={answer} />
    </div>
  ));
}

interface RowProps {
  readonly to: string;
  readonly name: string;
  readonly status: keyof typeof runTones;
  readonly at: string;
  readonly userId: string;
  readonly facts: readonly ReactNode[];
  readonly children: ReactNode;
}

function Row({ to, name, status, at, userId, facts, children }: RowProps) {
  return (
    <>
      <div className="desk-line record-head">
        <span className="record-title">
          <Link href={to} className="record-name" title={name}>
            {name}
          </Link>
          <Status tone={runTones[status]}>{status}</Status>
        </span>
        <span className="quiet desk-figure">
          <When at={at} />
        </span>
      </div>
      <p className="quiet record-facts">
        <PersonLink id={userId} />
        {facts.map((fact, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the facts of a row keep their places
          <span key={index}>{fact}</span>
        ))}
      </p>
      {children}
    </>
  );
}

function GenerationList({ query }: { readonly query: Query }) {
  const pages = usePages<GenerationRecordPage>('generation records', '/api/generations', query);
  return (
    <Listing
      pages={pages}
      label="Images and videos"
      itemsOf={({ generations }) => generations}
      keyOf={({ id }) => id}
      empty={none}
    >
      {(one) => <GenerationRow one={one} />}
    </Listing>
  );
}

/** Images without a run have no stored cost. It follows from the price. */
function useGenerationCost({ model, costUsd, delivered, kind }: GenerationRecord): ReactNode {
  const price = useModels().data?.media.find((one) => one.id === model && one.kind === kind)?.costUsd ?? null;
  return useCosts()(costUsd ?? (price === null ? null : price * delivered), model);
}

const kindOf = ({ kind, count }: GenerationRecord) =>
  kind === 'video' ? 'Video' : count === 1 ? 'Image' : `${count} images`;

function GenerationRow({ one }: { readonly one: GenerationRecord }) {
  const { id, userId, taskId, prompt, assetIds, model, status, count, delivered, credits, createdAt, endedAt } = one;
  const nameOf = useModelNames();
  const cost = useGenerationCost(one);
  return (
    <div className="record">
      {assetIds.length > 0 ? (
        <Pictures of={assetIds.slice(0, 1)} alt={`the ${one.kind}`} />
      ) : (
        <span className="record-picture quiet">{status === 'running' ? 'in work' : 'none'}</span>
      )}
      <div>
        <Row
          to={id === taskId ? `/operator/runs/${id}` : `/operator/runs?kind=generations&id=${id}`}
          name={prompt ?? unread}
          status={status}
          at={createdAt}
          userId={userId}
          facts={[
            <span key="model" title={model}>
              {kindOf(one)}, {nameOf(model)}
            </span>,
            ...(one.ratio === null ? [] : [one.ratio]),
            ...(delivered === count ? [] : [`${delivered} of ${count} delivered`]),
            ...(endedAt === null ? [] : [tookOf(createdAt, endedAt)]),
            ...(credits === null ? [] : [creditsOf(credits)]),
            cost,
            ...(taskId === null
              ? []
              : [
                  <Link key="run" href={`/operator/runs/${taskId}`}>
                    The run
                  </Link>,
                ]),
          ]}
        >
          <Failed error={one.failure} answer={one.answer} />
        </Row>
      </div>
    </div>
  );
}

// One run or generation: the failure and the figures, then the steps, and the stream last.

function GenerationPage({ id }: { readonly id: string }) {
  const path = `/api/generations?id=${encodeURIComponent(id)}`;
  const { data, error, refetch } = useRead<GenerationRecordPage>(['generation', id], path);
  const [one] = data?.generations ?? [];
  return (
    <>
      <BackLink to="/operator/runs?kind=generations" text="All images and videos" />
      {data === undefined ? (
        <Pending error={error} retry={refetch} what="Reading the order" />
      ) : one === undefined ? (
        <Empty title="There is no such order." />
      ) : (
        <Generation one={one} />
      )}
    </>
  );
}

function Generation({ one }: { readonly one: GenerationRecord }) {
  const { id, userId, taskId, prompt, assetIds, model, status, count, delivered, credits, createdAt, endedAt } = one;
  const nameOf = useModelNames();
  const cost = useGenerationCost(one);
  return (
    <div className="stack">
      <Head name={prompt ?? unread} status={status} at={createdAt} userId={userId} />
      <Failed error={one.failure} answer={one.answer} />
      <Figures
        of={{
          Kind: kindOf(one),
          Ratio: one.ratio ?? 'not set',
          Model: <span title={model}>{nameOf(model)}</span>,
          Delivered: `${delivered} of ${count}`,
          Took: endedAt === null ? 'not over' : tookOf(createdAt, endedAt),
          Credits: credits === null ? unknown : countOf(credits),
          Cost: cost,
        }}
      />
      {assetIds.length > 0 && <Pictures of={assetIds} alt={`the ${one.kind}`} />}
      {one.references.length > 0 && (
        <section className="card stack" aria-label="References">
          <h2>References</h2>
          <Pictures of={one.references} alt="the reference" />
        </section>
      )}
      <section className="card" aria-label="Record">
        <Pairs
          of={{
            ...(one.failureCode !== null && { Code: <code>{one.failureCode}</code> }),
            'Order id': <Id of={id} name="order id" />,
            ...idsOf(one),
            ...(taskId !== null && { Run: <Link href={`/operator/runs/${taskId}`}>The run that ordered it</Link> }),
          }}
        />
      </section>
    </div>
  );
}

interface HeadProps {
  readonly name: string;
  readonly status: keyof typeof runTones;
  readonly at: string;
  readonly userId: string;
  readonly children?: ReactNode;
}

function Head({ name, status, at, userId, children }: HeadProps) {
  return (
    <header className="page desk-head">
      <div>
        <h1>{name}</h1>
        <p className="quiet">
          <PersonLink id={userId} />, {momentOf(at)}
          {children}
        </p>
      </div>
      <Status tone={runTones[status]}>{status}</Status>
    </header>
  );
}

const Figures = ({ of }: { readonly of: Readonly<Record<string, ReactNode>> }) => (
  <Pairs className="desk-tiles" of={of} />
);

function RunPage({ taskId }: { readonly taskId: string }) {
  const { data, error, refetch } = useRead<ShownRun>(['run', taskId], `/api/runs/${encodeURIComponent(taskId)}`);
  return (
    <>
      <BackLink to="/operator/runs" text="All runs" />
      {data === undefined ? <Pending error={error} retry={refetch} what="Reading the run" /> : <Details run={data} />}
    </>
  );
}

const unknown = <span className="quiet">not known</span>;
const numberOf = (value: number | null) => (value === null ? unknown : countOf(value));

const idsOf = ({ requestId, traceId, traceUrl = null }: Ids) => ({
  'Request id': requestId === null ? unknown : <Id of={requestId} name="request id" />,
  'Trace id': traceId === null ? unknown : <Id of={traceId} name="trace id" url={traceUrl} />,
});
type Ids = Pick<ShownRun, 'requestId' | 'traceId'> & Partial<Pick<ShownRun, 'traceUrl'>>;

function Details({ run }: { readonly run: ShownRun }) {
  const { status, model, request, threadId, endedAt, tools } = run;
  const title = useThreadTitle(threadId);
  const nameOf = useModelNames();
  const costOf = useCosts();
  return (
    <div className="stack">
      <Head
        name={request ?? (title === untitled ? unread : title)}
        status={status}
        at={run.createdAt}
        userId={run.userId}
      >
        {title !== untitled && (
          <>
            , in <Link href={`/operator/runs?threadId=${encodeURIComponent(threadId)}`}>“{title}”</Link>
          </>
        )}
      </Head>
      <Failed error={run.error} answer={run.answer} />
      <ToolFailures of={run} />
      <Figures
        of={{
          Model: <span title={model}>{nameOf(model)}</span>,
          Took: endedAt === null ? 'not over' : tookOf(run.createdAt, endedAt),
          'Tokens in': numberOf(run.inputTokens),
          'Tokens out': numberOf(run.outputTokens),
          Credits: numberOf(run.credits),
          Cost: costOf(run.costUsd, model),
        }}
      />
      <Made taskId={run.taskId} tools={tools} />
      {run.timeline.length > 0 && <Steps of={run.timeline} />}
      <section className="card" aria-label="Record">
        <Pairs
          of={{
            ...(run.answeredBy !== null && { 'Answered by': nameOf(run.answeredBy) }),
            ...(run.errorCode !== null && { Code: <code>{run.errorCode}</code> }),
            ...(run.restarts > 0 && { Continued: countOf(run.restarts) }),
            'Run id': <Id of={run.taskId} name="run id" />,
            ...idsOf(run),
          }}
        />
      </section>
      {endedAt !== null && <Stream taskId={run.taskId} />}
    </div>
  );
}

/** The images that the run ordered, as the list of images has them. */
function Made({ taskId, tools }: { readonly taskId: string; readonly tools: readonly string[] }) {
  const path = `/api/generations?id=${encodeURIComponent(taskId)}`;
  const isEnabled = tools.some((tool) => tool === 'generateImage' || tool === 'editImage');
  const { data } = useRead<GenerationRecordPage>(['generation', taskId], path, { enabled: isEnabled });
  const cost = useCosts();
  const nameOf = useModelNames();
  const [one] = data?.generations ?? [];
  if (one === undefined) return null;
  return (
    <section className="card stack" aria-label="Images">
      <h2>
        {one.delivered} of {one.count === 1 ? '1 image' : `${one.count} images`} delivered
      </h2>
      <p className="quiet">
        {nameOf(one.model)} · {creditsOf(one.credits ?? 0)} · {cost(one.costUsd, one.model)}
      </p>
      {one.prompt !== null && <p className="desk-quote">{one.prompt}</p>}
      {one.assetIds.length > 0 && <Pictures of={one.assetIds} alt="the image" />}
    </section>
  );
}

/** The bar of a step or a call is its share of the longest one. */
function Steps({ of: steps }: { readonly of: ShownRun['timeline'] }) {
  const times = steps.flatMap(({ tookMs, calls }) => [tookMs ?? 0, ...calls.map((call) => call.tookMs ?? 0)]);
  const longest = Math.max(1, ...times);
  const took = (ms: number | null) => (
    <span className="record-took">
      <span className="desk-figure">{ms === null ? 'not measured' : timeOf(ms)}</span>
      <progress aria-hidden="true" max={longest} value={ms ?? 0} />
    </span>
  );
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">Steps</h2>
      <ol className="lines" aria-label="Steps">
        {steps.map(({ tookMs, inputTokens, outputTokens, calls }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are known by their number
          <li key={index}>
            <div className="desk-line">
              <span>
                <span className="strong">Model</span>{' '}
                <span className="quiet">
                  {inputTokens === null && outputTokens === null
                    ? 'tokens not known'
                    : `${countOf(inputTokens ?? 0)} tokens in, ${countOf(outputTokens ?? 0)} out`}
                </span>
              </span>
              {took(tookMs)}
            </div>
            {calls.map((call, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: calls are known by their place
              <div key={at} className="record-call">
                <div className="desk-line">
                  <span>
                    <code>{call.name}</code> {call.failure !== null && <Status tone="bad">failed</Status>}
                  </span>
                  {took(call.tookMs)}
                </div>
                <Failed error={call.failure} answer={call.answer} />
              </div>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Stream({ taskId }: { readonly taskId: string }) {
  const reading = useMutation({ mutationFn: () => callJson<Replay>(`/api/runs/${encodeURIComponent(taskId)}/events`) });
  const replay = reading.data;
  return (
    <section aria-labelledby="stream">
      <div className="row">
        <h2 id="stream">Stream</h2>
        {replay === undefined && (
          <button type="button" disabled={reading.isPending} onClick={() => reading.mutate()}>
            {reading.isPending ? 'Reading …' : 'Read the stream'}
          </button>
        )}
      </div>
      {replay === undefined && (
        <p className="quiet">The stream contains the conversation. The audit log records that you read it.</p>
      )}
      {reading.error && <Failure error={reading.error} />}
      {replay?.events.length === 0 && <Empty title="The stream is no longer stored." />}
      {replay !== undefined && replay.events.length > 0 && (
        <ol className="lines" aria-label="Events of the stream">
          {replay.events.map(({ id, type, pieces, text }) => (
            <li key={id}>
              <div className="desk-line">
                <span className="strong">{type}</span>
                <span className="quiet desk-figure">{pieces > 1 && `${countOf(pieces)} pieces`}</span>
              </div>
              {text !== '' && <pre className="wrapped record-answer">{text}</pre>}
            </li>
          ))}
        </ol>
      )}
      {replay?.isCut && <p className="quiet">Only the first 1,000 events are shown.</p>}
    </section>
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
} as const;

const creditsOf = (credits: number) => (credits === 1 ? '1 credit' : `${countOf(credits)} credits`);

function factsOf(run: ShownRun): readonly string[] {
  const { steps, tools, inputTokens, outputTokens, credits, createdAt, endedAt, restarts } = run;
  return [
    ...(endedAt === null ? [] : [tookOf(createdAt, endedAt)]),
    ...(steps === null ? [] : [steps === 1 ? '1 step' : `${countOf(steps)} steps`]),
    ...(tools.length === 0 ? [] : [[...new Set(tools)].join(', ')]),
    ...(inputTokens === null && outputTokens === null
      ? []
      : [`${countOf(inputTokens ?? 0)} + ${countOf(outputTokens ?? 0)} tokens`]),
    ...(credits === null ? [] : [creditsOf(credits)]),
    ...(restarts === 0 ? [] : [restarts === 1 ? 'continued once' : `continued ${restarts} times`]),
  ];
}

/** The failure as the user sees it, and the answer of the provider, if that is more. */
function Failed({ error, answer }: { readonly error: string | null; readonly answer: string | null }) {
  const words = answer === null ? '' : wordsOf(answer, error);
  return (
    <>
      {error !== null && <p className="problem">{error}</p>}
      {words !== '' && (
        <p className="record-answer wrapped">
          <span className="quiet">From the provider:</span> {words}
        </p>
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
