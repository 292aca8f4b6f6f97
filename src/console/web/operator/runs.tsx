/** Runs and generations of all users: how they went, what they cost, and why they failed. */
import { useParams, useSearchParams } from 'wouter';
import type { GenerationRecord, GenerationRecordPage } from '#agent/records/api.ts';
import type { ShownRun, ShownRunPage } from '../../runs/api.ts';
import { countOf, When } from '../parts/figures.tsx';
import { Listing, usePages } from '../parts/listing.tsx';
import { Empty, Status } from '../parts/states.tsx';
import { PersonLink } from './personlink.tsx';
import { Failed, factsOf, runTones } from './record.tsx';
import { RunPage } from './run.tsx';
import { moneyOf, tookOf } from './units.ts';
import './desk.css';
import './operator.css';
import './runs.css';
import { Link } from 'wouter';

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
          Runs of the agent, and orders of images and videos, newest first. Runs are stored for as long as their
          streams.
        </p>
      </header>
      <fieldset className="segments" aria-label="Kind">
        {kinds.map(([value, label]) => (
          <button
            key={value}
            type="button"
            aria-pressed={value === kind}
            onClick={() => change({ kind: value === 'runs' ? '' : value, status: '' })}
          >
            {label}
          </button>
        ))}
      </fieldset>
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
        <label className="field">
          Model
          <input
            type="search"
            placeholder="A complete id"
            maxLength={100}
            value={query.model}
            onChange={({ target }) => change({ model: target.value })}
          />
        </label>
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
  const { taskId, userId, status, model, error, answer, createdAt } = run;
  return (
    <>
      <div className="desk-line">
        <span className="record-title">
          <Link href={`/operator/runs/${taskId}`} className="desk-name">
            {model}
          </Link>
          <Status tone={runTones[status]}>{status}</Status>
        </span>
        <span className="quiet desk-figure">
          <When at={createdAt} />
        </span>
      </div>
      <p className="quiet record-facts">
        <PersonLink id={userId} />
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
          <span className="strong desk-name">
            {kind === 'image' ? (count === 1 ? 'Image' : `${count} images`) : 'Video'}, {model}
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
