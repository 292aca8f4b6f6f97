/** The jobs of a queue, and what an operator does with one or all of them. */
import { keepPreviousData } from '@tanstack/react-query';
import { Tabs } from 'radix-ui';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Email } from '#client/notify/api.ts';
import type { ChangedJobs, JobList, JobSubject, ShownJob, ShownQueue } from '../../jobs/api.ts';
import { CallFailed, callJson, send } from '../calls.ts';
import { Changes, useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { momentOf, plural, sinceThen, untilThen, When } from '../parts/figures.tsx';
import { Listing, onePage, SearchFilter, useFilters } from '../parts/listing.tsx';
import { useDeed, useRead } from '../parts/server.ts';
import { Empty, Problem, Section } from '../parts/states.tsx';
import { Entry, RunLink } from './entry.tsx';
import { PersonLink, RequestId, useId, useThreadTitle, workOf } from './names.tsx';

const states = [
  ['dead', 'Dead'],
  ['failing', 'Failing'],
  ['running', 'Running'],
  ['waiting', 'Waiting'],
  ['scheduled', 'Planned'],
] as const;
type State = (typeof states)[number][0];
const nouns = { one: 'job', many: 'jobs' };

interface QueueProps {
  readonly name: string;
  /** `undefined`: it has no unfinished or dead jobs any more. */
  readonly queue: ShownQueue | undefined;
  readonly show: (count: number) => string;
}

export function QueueJobs({ name, queue, show }: QueueProps) {
  const countOfState = (of: State) => queue?.[of] ?? 0;
  const { of, change } = useFilters();
  const [first] = useState<State>(() => states.find(([one]) => countOfState(one) > 0)?.[0] ?? 'dead');
  const state = states.find(([one]) => one === of('state'))?.[0] ?? first;
  return (
    <Section title={workOf(name)}>
      <p className="quiet">
        Queue <code>{name}</code>
      </p>
      <Tabs.Root value={state} onValueChange={(value) => change({ state: value }, false)}>
        <Tabs.List className="tabs" aria-label="State of the jobs">
          {states.map(([one, label]) => (
            <Tabs.Trigger key={one} value={one}>
              {label} {show(countOfState(one))}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value={state}>
          {/* They act on all jobs, and not on those that a search has found. */}
          {(state === 'dead' || state === 'failing') && countOfState(state) > 0 && of('q') === '' && (
            <AllDead
              queue={name}
              noun={nouns}
              count={state === 'dead' ? show(countOfState('dead')) : '0'}
              failing={state === 'dead' ? 0 : countOfState('failing')}
              label={`Retry all ${state === 'failing' && countOfState('dead') > 0 ? 'failing and dead' : state} jobs`}
            />
          )}
          <search className="desk-filters">
            <SearchFilter
              label="Search these jobs"
              placeholder="Email address, id, reason or payload"
              maxLength={320}
            />
          </search>
          <JobRows queue={name} state={state} q={useId(of('q')) ?? ''} />
        </Tabs.Content>
      </Tabs.Root>
    </Section>
  );
}

function JobRows({ queue, state, q }: { readonly queue: string; readonly state: State; readonly q: string }) {
  const often = { refetchInterval: 5000, placeholderData: keepPreviousData };
  const query = useRead<JobList>('/api/jobs', { queue, state, q }, often);
  const none = `No job is ${state === 'scheduled' ? 'planned' : state}.`;
  return (
    <>
      <Listing
        pages={onePage(query)}
        label={`Jobs of ${queue}`}
        itemsOf={({ jobs }) => jobs}
        keyOf={({ id }) => id}
        empty={<Empty title={q === '' ? none : 'No job matches.'} />}
      >
        {(job) => <Job queue={queue} job={job} state={state} />}
      </Listing>
      {query.data?.jobs.length === 100 && <p className="quiet">Only the first 100 jobs are listed.</p>}
    </>
  );
}

function Job({ queue, job, state }: { readonly queue: string; readonly job: ShownJob; readonly state: State }) {
  const mayChange = useMayChange();
  const { id, about, attempts, reason, payload, requestId, traceUrl, createdAt, dueAt, startedAt, endedAt } = job;
  return (
    <Entry
      title={<Title queue={queue} about={about} />}
      more={mayChange && (state === 'dead' || state === 'failing') && <JobActions job={job} />}
      facts={[
        about.userId !== undefined && <PersonLink key="owner" id={about.userId} />,
        about.taskId && <RunLink key="run" id={about.taskId} />,
        about.address && `To ${about.address}`,
        plural(attempts, 'attempt'),
        <span key="times">
          Created <When at={createdAt} />
          {endedAt !== null && `, dead since ${momentOf(endedAt)}`}
          {state === 'running' && startedAt !== null && `, started ${sinceThen(startedAt)}`}
          {state === 'scheduled' && `, due ${untilThen(dueAt)}`}
          {state === 'failing' && `, next attempt ${untilThen(dueAt)}`}
        </span>,
        <RequestId key="request" id={requestId} traceUrl={traceUrl} />,
      ]}
      problem={reason}
    >
      <details>
        <summary>Id and payload</summary>
        <p>
          <code className="wrapped">{id}</code>
        </p>
        <pre className="wrapped">{payload}</pre>
      </details>
    </Entry>
  );
}

function Title({ queue, about }: { readonly queue: string; readonly about: JobSubject }) {
  const { threadId, emailId, event } = about;
  const work = workOf(queue);
  if (event !== undefined) return `${work}: ${event}`;
  if (emailId !== undefined) return <EmailTitle work={work} id={emailId} />;
  return threadId === undefined ? work : <ThreadTitle work={work} id={threadId} />;
}

const ThreadTitle = ({ work, id }: { readonly work: string; readonly id: string }) => `${work}: ${useThreadTitle(id)}`;

function EmailTitle({ work, id }: { readonly work: string; readonly id: string }) {
  const { data } = useRead<Email>(`/api/notify/emails/${encodeURIComponent(id)}`, {}, { staleTime: 60_000 });
  if (data === undefined) return work;
  return (
    <>
      {work}:{' '}
      <Link href={`/operator/mail?${new URLSearchParams({ tab: 'sent', q: data.subject })}`}>{data.subject}</Link> to{' '}
      {data.to.join(', ')}
    </>
  );
}

function JobActions({ job: { id, fence, isSettled, endedAt } }: { readonly job: ShownJob }) {
  const act = async (action: Action) => {
    await send(`/api/jobs/${id}/${action}`, { method: 'POST', json: { fence } });
    return action === 'retry' ? 'The job restarts.' : 'The job was discarded.';
  };
  const question = 'Permanently discard this job?';
  return (
    <Actions
      {...(!isSettled && { retry: [endedAt === null ? 'Retry now' : 'Retry', `Retry job ${id}`] as const })}
      {...(endedAt !== null && { discard: { label: 'Discard', name: `Discard job ${id}`, question } })}
      act={act}
    >
      {isSettled && (
        <span className="quiet">The service has handled this failure, so a retry would have no effect.</span>
      )}
    </Actions>
  );
}

interface AllDeadProps {
  readonly queue: string;
  readonly noun: { readonly one: string; readonly many: string };
  /** As text, such as `10,000+`. */
  readonly count: string;
  /** How many jobs wait for their next attempt, which a retry starts now. */
  readonly failing: number;
  readonly label: string;
  /** Reports a retry of, such as, `3 jobs`. */
  readonly report?: (what: string) => string;
}

/** Retries all dead and failing jobs of a queue, or discards the dead ones. */
export function AllDead(props: AllDeadProps) {
  const { queue, noun, count: dead, failing, label, report = (what) => `Retried ${what}` } = props;
  const act = async (action: Action) => {
    const json = { queue, ...(action === 'retry' && { failing: failing > 0 }) };
    const { count, hasMore } = await callJson<ChangedJobs>(`/api/queues/${action}`, { method: 'POST', json });
    const what = plural(count, noun.one, noun.many);
    const done = action === 'retry' ? report(what) : `Discarded ${what}`;
    return `${done}.${hasMore ? ' There are more. Repeat the action.' : ''}`;
  };
  const question = `Permanently discard ${dead} dead ${dead === '1' ? noun.one : noun.many}?`;
  return (
    <Changes>
      <Actions
        retry={[label]}
        {...(dead !== '0' && { discard: { label: `Discard all dead ${noun.many}`, question } })}
        act={act}
      />
    </Changes>
  );
}

type Action = 'retry' | 'discard';
/** Another operator, or the queue, was faster. */
function tellChange(error: unknown): string {
  if (error instanceof CallFailed && error.code === 'job_changed')
    return 'It has just changed. The list shows its state.';
  throw error;
}

interface ActionsProps {
  readonly retry?: readonly [label: string, name?: string];
  readonly discard?: Pick<ComponentProps<typeof Confirm>, 'label' | 'name' | 'question'>;
  /** Returns a sentence for the operator. */
  readonly act: (action: Action) => Promise<string>;
  readonly children?: ReactNode;
}

export function Actions({ retry, discard, act, children }: ActionsProps) {
  const shown = [['queues'], ['jobs'], ['webhooks'], ['overview']];
  const change = useDeed((action: Action) => act(action).catch(tellChange), ...shown);
  return (
    <div className="row start">
      {retry && (
        <button type="button" aria-label={retry[1]} disabled={change.isPending} onClick={() => change.mutate('retry')}>
          {retry[0]}
        </button>
      )}
      {children}
      {discard && <Confirm {...discard} onConfirm={() => change.mutateAsync('discard')} />}
      <Problem of={change.error} />
    </div>
  );
}
