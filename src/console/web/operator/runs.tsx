/** Runs and generations of all users: what was requested, how it went, what it cost, and why it failed. */
import type { ReactNode } from 'react';
import { Link, useParams, useSearchParams } from 'wouter';
import type { GenerationRecord, GenerationRecordPage } from '#agent/records/api.ts';
import type { ShownRun, ShownRunPage } from '../../runs/api.ts';
import { countOf, When } from '../parts/figures.tsx';
import {
  ChoiceFilter,
  Choices,
  Filters,
  Listing,
  Period,
  SearchFilter,
  useFilters,
  usePages,
} from '../parts/listing.tsx';
import { Empty, PageHead, Status } from '../parts/states.tsx';
import { Facts, RunLink } from './entry.tsx';
import { PersonLink, SettingLink, untitled, useCosts, useModelNames, useModels, useThreadTitle } from './names.tsx';
import { Pictures } from './places.tsx';
import * as parts from './run.tsx';
import { tookOf } from './units.ts';

export function Runs() {
  const { taskId } = useParams<{ taskId?: string }>();
  const [search] = useSearchParams();
  const id = search.get('id');
  if (taskId !== undefined) return <parts.RunPage key={taskId} taskId={taskId} />;
  return id === null ? <Records /> : <parts.GenerationPage key={id} id={id} />;
}

const kinds = [
  ['runs', 'Runs'],
  ['generations', 'Images and videos'],
] as const;

const statuses = {
  runs: ['failed', 'running', 'queued', 'completed', 'aborted'],
  generations: ['failed', 'running', 'completed', 'canceled', 'refused'],
} as const;

const columns = ['Who', 'Model', 'State', 'Took', 'Cost', 'When'];

const Conversation = ({ id }: { readonly id: string }) => <span className="desk-name">“{useThreadTitle(id)}”</span>;
const people = [
  ['userId', 'Of', PersonLink, 'All people'],
  ['threadId', 'In', Conversation, 'All conversations'],
] as const;

function Records() {
  const { of, change } = useFilters();
  const kind = of('kind') === 'generations' ? 'generations' : 'runs';
  const [userId, threadId] = [of('userId'), of('threadId')];
  const query = { status: of('status'), model: of('model'), q: of('q'), from: of('from'), to: of('to'), userId };
  return (
    <div className="operator">
      <PageHead title={kind === 'runs' ? 'Runs' : 'Images and videos'}>
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
        <SearchFilter
          label="Search"
          placeholder={`${kind === 'runs' ? 'Request' : 'Prompt'}, error, email, id or trace id`}
        />
        <ChoiceFilter
          name="status"
          label="Status"
          choices={[['', 'All'], ...statuses[kind].map((status) => [status, status] as const)]}
        />
        <ModelChoice kind={kind} value={query.model} />
        <Period />
      </Filters>
      {people.map(
        ([name, word, Name, all]) =>
          of(name) !== '' && (
            <p key={name} className="record-person">
              {word} <Name id={of(name)} />
              <button type="button" onClick={() => change({ [name]: '' })}>
                {all}
              </button>
            </p>
          ),
      )}
      {/* The names of the columns, where there is room for columns. */}
      <p className={`record-columns record-heads ${kind}`} aria-hidden="true">
        {[kind === 'runs' ? 'Request' : 'Prompt', ...columns].map((name) => (
          <span key={name}>{name}</span>
        ))}
      </p>
      {kind === 'runs' ? <RunList query={{ ...query, threadId }} /> : <GenerationList query={query} />}
    </div>
  );
}

type ModelChoiceProps = { readonly kind: 'runs' | 'generations'; readonly value: string };

/** The configured models. A former one that a link names is listed too. */
function ModelChoice({ kind, value }: ModelChoiceProps) {
  const { data } = useModels();
  const known = (kind === 'runs' ? data?.models : data?.media) ?? [];
  const former = value === '' || known.some(({ id }) => id === value) ? [] : [{ id: value, label: value }];
  const all = [...known, ...former];
  // The offline renderers have one name.
  const nameOf = ({ id, label }: (typeof all)[number]) =>
    all.some((one) => one.id !== id && one.label === label) ? `${label}, ${id}` : label;
  const choices = [['', 'All'] as const, ...all.map((one) => [one.id, nameOf(one)] as const)];
  return <ChoiceFilter name="model" label="Model" choices={choices} />;
}

type Query = Readonly<Record<string, string>>;

const Nothing = ({ children }: { readonly children?: ReactNode }) => (
  <Empty title="Nothing matches.">
    <p className="quiet">A search covers the newest 10,000. {children}</p>
  </Empty>
);

function RunList({ query }: { readonly query: Query }) {
  const pages = usePages<ShownRunPage>('/api/runs', query);
  return (
    <Listing
      pages={pages}
      label="Runs"
      itemsOf={({ runs }) => runs}
      keyOf={({ taskId }) => taskId}
      empty={
        <Nothing>
          Runs that ended longer ago than <SettingLink name="AGENT_TASK_TTL_SECS" /> are removed.
        </Nothing>
      }
      above={(runs) => <parts.EqualFailures of={runs} kind="runs" />}
    >
      {(run) => <RunRow run={run} />}
    </Listing>
  );
}

function RunRow({ run }: { readonly run: ShownRun }) {
  const { taskId, threadId, model, error, answer, request } = run;
  const title = useThreadTitle(threadId);
  const nameOf = useModelNames();
  const costOf = useCosts();
  return (
    <Row
      of={run}
      to={`/operator/runs/${taskId}`}
      name={request ?? (title === untitled ? parts.unread : title)}
      model={nameOf(model)}
      took={run.endedAt === null ? '' : tookOf(run.createdAt, run.endedAt)}
      cost={costOf(run.costUsd, model)}
      facts={[
        ...factsOf(run),
        request !== null && title !== request && title !== untitled && (
          <Link key="thread" href={`/operator/runs?threadId=${encodeURIComponent(threadId)}`}>
            In “{title}”
          </Link>
        ),
      ]}
    >
      <parts.Failed error={error} answer={answer} />
      <parts.ToolFailures of={run} />
    </Row>
  );
}

type Texts = Readonly<Record<'to' | 'name' | 'model', string>>;
interface RowProps extends Texts, Readonly<Record<'took' | 'cost' | 'children', ReactNode>> {
  readonly of: Pick<ShownRun | GenerationRecord, 'userId' | 'model' | 'status' | 'createdAt'>;
  readonly facts: readonly ReactNode[];
}

function Row({ of: { userId, createdAt, ...one }, to, name, model, took, cost, facts, children }: RowProps) {
  return (
    <>
      <div className="record-columns">
        <Link href={to} className="record-name" title={name}>
          {name}
        </Link>
        <span className="record-who">
          <PersonLink id={userId} />
        </span>
        <span className="record-model" title={one.model}>
          {model}
        </span>
        <Status tone={parts.toneOf(one)}>{one.status}</Status>
        <span className="desk-figure">{took}</span>
        <span className="desk-figure">{cost}</span>
        <span className="quiet desk-figure">
          <When at={createdAt} />
        </span>
      </div>
      <Facts of={facts} />
      {children}
    </>
  );
}

function GenerationList({ query }: { readonly query: Query }) {
  const pages = usePages<GenerationRecordPage>('/api/generations', query);
  return (
    <Listing
      pages={pages}
      label="Images and videos"
      itemsOf={({ generations }) => generations}
      keyOf={({ id }) => id}
      empty={<Nothing />}
      above={(all) => <parts.EqualFailures of={all.filter(isFailed).map(parts.failureOf)} kind="generations" />}
    >
      {(one) => <GenerationRow one={one} />}
    </Listing>
  );
}

const isFailed = ({ status }: GenerationRecord) => status === 'failed';

function GenerationRow({ one }: { readonly one: GenerationRecord }) {
  const { id, taskId, prompt, assetIds, model, status, count, delivered, credits } = one;
  const nameOf = useModelNames();
  const cost = parts.useGenerationCost(one);
  return (
    <div className="record">
      {assetIds.length > 0 ? (
        <Pictures of={assetIds.slice(0, 1)} alt={`the ${one.kind}`} />
      ) : (
        <span className="record-picture quiet">{status === 'running' ? 'in work' : 'none'}</span>
      )}
      <div>
        <Row
          of={one}
          to={`/operator/runs?kind=generations&id=${id}`}
          name={prompt ?? parts.unread}
          model={nameOf(model)}
          took={one.endedAt !== null && parts.durationOf(one)}
          cost={cost}
          facts={[
            parts.kindOf(one),
            one.ratio !== null && one.ratio,
            delivered !== count && `${delivered} of ${count} delivered`,
            credits !== null && parts.creditsOf(credits),
            taskId !== null && <RunLink key="run" id={taskId} />,
          ]}
        >
          <parts.Failed {...parts.failureOf(one)} />
        </Row>
      </div>
    </div>
  );
}

function factsOf(run: ShownRun): readonly ReactNode[] {
  const { steps, tools, inputTokens, outputTokens, credits, restarts } = run;
  const shown = (tokens: number | null) => (tokens === null ? '–' : countOf(tokens));
  const tokens = `${shown(inputTokens)} in + ${shown(outputTokens)} out tokens`;
  return [
    steps !== null && parts.stepsOf(run),
    tools.length > 0 && [...new Set(tools)].join(', '),
    (inputTokens ?? outputTokens) !== null && tokens,
    credits !== null && parts.creditsOf(credits),
    restarts > 0 && (restarts === 1 ? 'continued once' : `continued ${restarts} times`),
  ];
}
