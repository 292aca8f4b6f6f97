/** Runs and generations of all users: how they went, what they cost, and why they failed. */
import './desk.css';
import './operator.css';
import './runs.css';
import { useMutation } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { Link, useParams, useSearchParams } from 'wouter';
import type { GenerationRecord, GenerationRecordPage } from '#agent/records/api.ts';
import type { Replay, ShownRun, ShownRunPage } from '../../runs/api.ts';
import { callJson } from '../calls.ts';
import { Choices } from '../parts/choices.tsx';
import { countOf, momentOf, When } from '../parts/figures.tsx';
import { Listing, usePages } from '../parts/listing.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, Failure, Pending, Status } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import { PersonLink, useModelNames, useModels, useThreadTitle } from './names.tsx';
import { moneyOf, tookOf } from './units.ts';

export function Runs() {
  const { taskId } = useParams<{ taskId?: string }>();
  return taskId === undefined ? <Records /> : <RunPage key={taskId} taskId={taskId} />;
}

const kinds = [
  ['runs', 'Runs'],
  ['generations', 'Images and videos'],
] as const;

const statuses = {
  runs: ['failed', 'running', 'queued', 'completed', 'aborted'],
  generations: ['failed', 'running', 'completed', 'canceled'],
} as const;

/** The filters are in the URL, so that a view can be sent to another operator. */
function Records() {
  const [search, setSearch] = useSearchParams();
  const kind = search.get('kind') === 'generations' ? 'generations' : 'runs';
  const of = (name: string) => search.get(name) ?? '';
  const change = (changes: Readonly<Record<string, string>>) =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now);
        for (const [name, value] of Object.entries(changes))
          if (value === '') next.delete(name);
          else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const userId = of('userId');
  const query = { status: of('status'), model: of('model'), userId };
  return (
    <div className="operator">
      <header className="page">
        <h1>Runs</h1>
        <p className="quiet">
          {kind === 'runs'
            ? 'Answers of the agent, newest first. A run is removed some time after its end, with its stream.'
            : 'Orders of images and videos, newest first.'}
        </p>
      </header>
      <Choices
        label="Kind"
        of={kinds}
        chosen={kind}
        choose={(value) => change({ kind: value === 'runs' ? '' : value, status: '', model: '' })}
      />
      <search className="desk-fields desk-filters">
        <label className="field">
          Status
          <select value={query.status} onChange={({ target }) => change({ status: target.value })}>
            <option value="">All</option>
            {statuses[kind].map((status) => (
              <option key={status} value={status}>
                {status}
              </option>
            ))}
          </select>
        </label>
        <ModelChoice kind={kind} value={query.model} onChange={(model) => change({ model })} />
        {userId !== '' && (
          <p className="record-person">
            Of <PersonLink id={userId} />
            <button type="button" onClick={() => change({ userId: '' })}>
              All people
            </button>
          </p>
        )}
      </search>
      {kind === 'runs' ? <RunList query={query} /> : <GenerationList query={query} />}
    </div>
  );
}

/** The configured models. A former one that a link names is listed too. */
function ModelChoice({
  kind,
  value,
  onChange,
}: {
  readonly kind: 'runs' | 'generations';
  readonly value: string;
  readonly onChange: (model: string) => void;
}) {
  const { data } = useModels();
  const known = (kind === 'runs' ? data?.models : data?.media) ?? [];
  const former = value === '' || known.some(({ id }) => id === value) ? [] : [{ id: value, label: value }];
  return (
    <label className="field">
      Model
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">All</option>
        {[...known, ...former].map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

type Query = Readonly<Record<'status' | 'model' | 'userId', string>>;

const none = (
  <Empty title="Nothing matches.">
    <p className="quiet">Runs that ended longer ago than AGENT_TASK_TTL_SECS are removed.</p>
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

function RunRow({ run }: { readonly run: ShownRun }) {
  const { taskId, threadId, userId, status, model, error, answer, createdAt } = run;
  const title = useThreadTitle(threadId);
  const nameOf = useModelNames();
  return (
    <>
      <div className="desk-line">
        <span className="record-title">
          <Link href={`/operator/runs/${taskId}`} className="desk-name">
            {title}
          </Link>
          <Status tone={runTones[status]}>{status}</Status>
        </span>
        <span className="quiet desk-figure">
          <When at={createdAt} />
        </span>
      </div>
      <p className="quiet record-facts">
        <PersonLink id={userId} />
        <span title={model}>{nameOf(model)}</span>
        {factsOf(run).map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </p>
      <Failed error={error} answer={answer} />
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
      empty={<Empty title="Nothing matches." />}
    >
      {(one) => <GenerationRow one={one} />}
    </Listing>
  );
}

function GenerationRow({ one }: { readonly one: GenerationRecord }) {
  const nameOf = useModelNames();
  const { kind, userId, taskId, model, status, count, delivered, credits, costUsd, createdAt, endedAt } = one;
  const facts = [
    `${delivered} of ${count} delivered`,
    ...(endedAt === null ? [] : [tookOf(createdAt, endedAt)]),
    ...(credits === null ? [] : [credits === 1 ? '1 credit' : `${countOf(credits)} credits`]),
    ...(costUsd === null || costUsd === 0 ? [] : [moneyOf(costUsd)]),
  ];
  return (
    <>
      <div className="desk-line">
        <span className="record-title">
          <span className="strong desk-name" title={model}>
            {kind === 'image' ? (count === 1 ? 'Image' : `${count} images`) : 'Video'}, {nameOf(model)}
          </span>
          <Status tone={runTones[status]}>{status}</Status>
        </span>
        <span className="quiet desk-figure">
          <When at={createdAt} />
        </span>
      </div>
      <p className="quiet record-facts">
        <PersonLink id={userId} />
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
        {taskId !== null && <Link href={`/operator/runs/${taskId}`}>The run</Link>}
      </p>
      <Failed error={one.failure} answer={one.answer} />
    </>
  );
}

// One run: its record, its trace, and its stream.

function RunPage({ taskId }: { readonly taskId: string }) {
  const { data, error, refetch } = useRead<ShownRun>(['run', taskId], `/api/runs/${encodeURIComponent(taskId)}`);
  return (
    <>
      <p className="desk-back">
        <Link href="/operator/runs">
          <ArrowLeft size={16} strokeWidth={1.75} aria-hidden="true" /> All runs
        </Link>
      </p>
      {data === undefined ? <Pending error={error} retry={refetch} what="Reading the run" /> : <Details run={data} />}
    </>
  );
}

const unknown = <span className="quiet">not known</span>;
const numberOf = (value: number | null) => (value === null ? unknown : countOf(value));

function Details({ run }: { readonly run: ShownRun }) {
  const { status, endedAt, costUsd, tools, requestId, traceId, traceUrl } = run;
  const title = useThreadTitle(run.threadId);
  const nameOf = useModelNames();
  return (
    <div className="stack">
      <header className="page desk-head">
        <div>
          <h1>{title}</h1>
          <p className="quiet">
            <PersonLink id={run.userId} />, {momentOf(run.createdAt)}
          </p>
        </div>
        <Status tone={runTones[status]}>{status}</Status>
      </header>
      <Failed error={run.error} answer={run.answer} />
      <section className="card" aria-label="Record">
        <Pairs
          of={{
            Model: <span title={run.model}>{nameOf(run.model)}</span>,
            Took: endedAt === null ? 'not over' : tookOf(run.createdAt, endedAt),
            Steps: numberOf(run.steps),
            Tools: tools.length === 0 ? 'none' : tools.join(', '),
            'Tokens in': numberOf(run.inputTokens),
            'Tokens out': numberOf(run.outputTokens),
            Credits: numberOf(run.credits),
            Cost: costUsd === null ? unknown : moneyOf(costUsd),
            ...(run.answeredBy !== null && { 'Answered by': nameOf(run.answeredBy) }),
            ...(run.errorCode !== null && { Code: run.errorCode }),
            ...(run.restarts > 0 && { Continued: countOf(run.restarts) }),
            'Request id': requestId === null ? unknown : <code>{requestId}</code>,
            'Trace id':
              traceId === null ? (
                unknown
              ) : traceUrl === null ? (
                <code>{traceId}</code>
              ) : (
                <a href={traceUrl} target="_blank" rel="noreferrer">
                  {traceId}
                </a>
              ),
          }}
        />
      </section>
      {endedAt !== null && <Stream taskId={run.taskId} />}
    </div>
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

function factsOf(run: ShownRun): readonly string[] {
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

/** The failure as the user sees it, and the answer of the provider, if that is more. */
function Failed({ error, answer }: { readonly error: string | null; readonly answer: string | null }) {
  const words = answer === null ? '' : wordsOf(answer);
  return (
    <>
      {error !== null && <p className="problem">{error}</p>}
      {words !== '' && words !== error && (
        <p className="record-answer wrapped">
          <span className="quiet">From the provider:</span> {words}
        </p>
      )}
    </>
  );
}

/** Of lines such as `500 {"error":{"message":"…"}}`, the message. Other texts stay as they are. */
const wordsOf = (answer: string): string =>
  [...new Set(answer.split('\n').map(messageOf))].filter((line) => line !== '').join('\n');

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
