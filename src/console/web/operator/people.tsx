/** People: finding users by address or id, and the page of one person. */
import { type UseQueryResult, useMutation } from '@tanstack/react-query';
import { type ReactNode, useId, useRef, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { ErasureReport, PeoplePage, Person, PersonDetails } from '#accounts/people/api.ts';
import type { Spenders, UsageTotals, UserUsage } from '#agent/operatorapi.ts';
import type { FailureCounts } from '#agent/records/api.ts';
import type { Part } from '../../services.ts';
import { callJson, send } from '../calls.ts';
import { Changes, useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Choice, TextField } from '../parts/fields.tsx';
import { countOf, countUpTo, planName, sizeOf, When } from '../parts/figures.tsx';
import { ChoiceFilter, Filters, Listing, SearchFilter, useFilters, usePages } from '../parts/listing.tsx';
import { SaveForm } from '../parts/saveform.tsx';
import { useDeed, useRead } from '../parts/server.ts';
import { Empty, PageHead, Problem, Section, Status } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import { saveFile } from '../shell/saving.ts';
import { Activity } from './activity.tsx';
import { EntryPage } from './entry.tsx';
import { Unknown, useCosts } from './names.tsx';
import texts from './people.json' with { type: 'json' };
import { allPlans, type PersonView } from './personview.ts';
import { creditsOf } from './run.tsx';
import { dayMs, dayOf } from './units.ts';

export function People() {
  const { personId } = useParams<{ personId?: string }>();
  return personId === undefined ? <Directory /> : <PersonPage key={personId} userId={personId} />;
}

/** `orders`: each with the column by which it sorts. */
const { orders, statuses, columns, erased, block } = texts;
const choicesOf = (all: readonly string[][]) => all.map(([value = '', label = '']) => [value, label] as const);
const plans = [['', 'All'] as const, ...allPlans.map((one) => [one, planName(one)] as const)];

function Directory() {
  const { of } = useFilters();
  const [q, plan, status, order] = [of('q'), of('plan'), of('status'), of('order')];
  const isOfMonth = order === 'spent' || order === 'cost';
  const top = useSpenders(order === 'cost' ? 'cost' : 'credits');
  const ids = isOfMonth && q === '' ? (top.data?.users ?? []).map(({ userId }) => userId) : [];
  const listing = { q, plan, status, ...(ids.length > 0 ? { ids: ids.join(',') } : { order: isOfMonth ? '' : order }) };
  const pages = usePages<PeoplePage>('/api/people', listing);
  const people = pages.data?.pages.flatMap((page) => page.people).length;
  const today = dayOf(Date.now());
  const month = { from: `${today.slice(0, 8)}01`, to: today };
  const days = useRead<UsageTotals>('/api/usage/totals', month).data?.days;
  const sorted = q === '' ? orders.find(([value]) => value === order)?.[2] : undefined;
  return (
    <>
      <PageHead title="People">
        {people !== undefined &&
          `${countOf(people)}${pages.hasNextPage ? '+' : ''} ${people === 1 ? 'person' : 'people'}. `}
        {days && `This month, all people spent ${countOf(sumOf(days, 'credits'))} credits. `}
        {days && <Link href="/operator/models">Models and costs</Link>}
      </PageHead>
      <Filters>
        <SearchFilter label="Find people" placeholder="Email address or id" maxLength={320} />
        <ChoiceFilter name="plan" label="Plan" choices={plans} />
        <ChoiceFilter name="status" label="Status" choices={choicesOf(statuses)} />
        <ChoiceFilter name="order" label="Order" choices={choicesOf(orders)} />
      </Filters>
      {isOfMonth && <p className="quiet">The 100 users who spent or cost the most this month.</p>}
      {/* The names of the columns, where there is room for columns. */}
      <p className="desk-entry desk-person desk-heads" aria-hidden="true">
        {columns.map((name) => (
          <span key={name}>{name === sorted ? `${name} ${order === 'oldest' ? '↑' : '↓'}` : name}</span>
        ))}
      </p>
      {isOfMonth && <Problem of={top.error} />}
      <Listing
        pages={pages}
        label="People"
        itemsOf={({ people }) =>
          ids.length === 0 ? people : people.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
        }
        keyOf={({ id }) => id}
        empty={
          <Empty title={q + plan + status === '' ? 'No users have signed up yet.' : 'No users match.'}>
            {q !== '' && <p className="quiet">Enter a part of an email address, or a complete id.</p>}
          </Empty>
        }
      >
        {(person) => <PersonRow person={person} />}
      </Listing>
    </>
  );
}

/** The longest list that there is. All rows share it. */
const useSpenders = (order: 'credits' | 'cost') => useRead<Spenders>('/api/usage/users', { limit: 100, order });

function PersonRow({ person }: { readonly person: Person }) {
  const { id, email, plan, credits, createdAt, blockedAt } = person;
  const from = dayOf(Date.now() - 7 * dayMs);
  const costOf = useCosts();
  const spenders = useSpenders('credits');
  const failed = useRead<FailureCounts>('/api/failures', { from });
  const spent = (show: (spent: Pick<Spenders['users'][number], 'credits' | 'costUsd'>) => ReactNode) =>
    cellOf(spenders, ({ users }) => {
      const own = users.find(({ userId }) => userId === id) ?? (users.length < 100 && { credits: 0, costUsd: 0 });
      return own ? show(own) : <Unknown why="not one of the 100 who spent the most" />;
    });
  return (
    <div className="desk-entry desk-person">
      <span className="desk-name">
        <Link href={`/operator/people/${id}`} title={email ?? id}>
          {email ?? id}
        </Link>{' '}
        {blockedAt !== null && <Blocked />}
      </span>
      <span className="tag">{planName(plan)}</span>
      <Figure value={countOf(credits)} word="credits" />
      <Figure value={spent((own) => countOf(own.credits))} word="spent this month" />
      <Figure value={spent((own) => costOf(own.costUsd))} word="cost this month" />
      <Figure
        value={cellOf(failed, ({ failures: { [id]: runs } }) =>
          runs ? <Link href={`/operator/runs?userId=${id}&status=failed&from=${from}`}>{countOf(runs)}</Link> : '0',
        )}
        word="failed runs this week"
      />
      <Figure before="last use" value={lastUseOf(person)} />
      <Figure before="joined" value={<When at={createdAt} />} />
    </div>
  );
}

const cellOf = <T,>({ data, error }: UseQueryResult<T>, show: (data: T) => ReactNode): ReactNode =>
  data === undefined ? error ? <span title={error.message}>unavailable</span> : '…' : show(data);

const lastUseOf = ({ activeAt }: Person) => (activeAt === null ? 'not in a browser' : <When at={activeAt} />);

const Blocked = () => <Status tone="bad">Blocked</Status>;
type FigureProps = { readonly before?: string; readonly value: ReactNode; readonly word?: string };
/** Where the list has the names of the columns, only assistive technology needs the words. */
const Figure = ({ before, value, word }: FigureProps) => (
  <span className="quiet desk-figure">
    <span className="desk-word">{before}</span> {value} <span className="desk-word">{word}</span>
  </span>
);

// One person: account, usage, content, mails, incidents and what operators did.

function PersonPage({ userId }: { readonly userId: string }) {
  const query = useRead<PersonView>(`/api/people/${encodeURIComponent(userId)}`);
  return (
    <EntryPage of={query} kind="person" list={['/operator/people', 'All people']}>
      {(view) => <Details view={view} />}
    </EntryPage>
  );
}

function shown<T>(part: Part<T>, show: (value: T) => ReactNode): ReactNode {
  return part.isThere ? show(part.value) : <span title={part.reason}>Unavailable</span>;
}

const sumOf = (
  days: readonly Omit<UserUsage['days'][number], 'day'>[],
  figure: 'credits' | 'costUsd' | 'runs' | 'images' | 'videos',
) => days.reduce((sum, day) => sum + day[figure], 0);

function Figures({ view: { record, conversations, storage, months, failures, usage } }: { readonly view: PersonView }) {
  const costOf = useCosts();
  const { id, credits } = record.person;
  const counted = (query: string, figure: 'runs' | 'orders' | 'refused') => (
    <Link href={`/operator/runs?userId=${id}&${query}`}>{shown(failures, (of) => countUpTo(99, of[figure]))}</Link>
  );
  return (
    <Pairs
      className="desk-tiles"
      of={{
        Credits: countOf(credits),
        'Spent in 30 days': shown(usage, ({ days }) => countOf(sumOf(days, 'credits'))),
        'Cost in 30 days': shown(usage, ({ days }) => costOf(sumOf(days, 'costUsd'))),
        'Runs in 30 days': shown(usage, ({ days }) => countOf(sumOf(days, 'runs'))),
        'Images in 30 days': shown(usage, ({ days }) => countOf(sumOf(days, 'images'))),
        'Videos in 30 days': shown(usage, ({ days }) => countOf(sumOf(days, 'videos'))),
        Threads: shown(conversations, ({ threads }) => countOf(threads)),
        Messages: shown(conversations, ({ messages }) => countOf(messages)),
        'Failed runs': counted('status=failed', 'runs'),
        'Failed orders': counted('kind=generations&status=failed', 'orders'),
        'Refused orders': counted('kind=generations&status=refused', 'refused'),
        Files: shown(months, (one) => countOf(one.months.reduce((sum, { count }) => sum + count, 0))),
        Storage: shown(storage, ({ bytes }) => sizeOf(bytes)),
      }}
    />
  );
}

function Details({ view }: { readonly view: PersonView }) {
  const { person, block } = view.record;
  const mayChange = useMayChange();
  // The figures were read before the erasure.
  const [isErased, setErased] = useState(false);
  return (
    <>
      <header className="page desk-head">
        <div>
          <h1>
            {person.email ?? 'No email address'} {person.blockedAt !== null && <Blocked />}
          </h1>
          <p className="address quiet">{person.id}</p>
          {person.blockedAt !== null && (
            <p>
              {block ? `${block.actor} blocked this account ` : 'Blocked at its sign-up, '}
              <When at={person.blockedAt} />.{' '}
              {block ? `Reason: ${block.reason}` : 'A deleted account with this address was blocked.'}
            </p>
          )}
        </div>
        {!isErased && (
          <span className="row">
            <a href="#account-heading">Account and actions</a>
            <Link href={`/operator/runs?userId=${person.id}`}>Runs</Link>
            <Link href={`/operator/runs?kind=generations&userId=${person.id}`}>Images and videos</Link>
            <span className="tag">{planName(person.plan)}</span>
          </span>
        )}
      </header>
      {!isErased && <Figures view={view} />}
      <div className="desk-columns">
        {!isErased && <Activity view={view} />}
        <div className="stack desk-aside">
          {!isErased && <Account record={view.record} />}
          {mayChange && (
            <Section title="Personal data" className="card stack">
              {!isErased && <Export person={person} />}
              <Erasure person={person} onErased={() => setErased(true)} />
            </Section>
          )}
        </div>
      </div>
    </>
  );
}

const languages = new Intl.DisplayNames('en', { type: 'language' });

// The account of a person: plan and credits with a reason, sessions, and the history of changes.

function Account({ record }: { readonly record: PersonDetails }) {
  const { person, settings, invitedBy, invited, sessionsEndedAt, sessions } = record;
  return (
    <Section title="Account" id="account-heading" className="card stack">
      <Pairs
        of={{
          Joined: <When at={person.createdAt} />,
          'Last use': lastUseOf(person),
          Language: person.language === null ? 'not known' : languages.of(person.language),
          'Product mail': settings.isOpenNotification ? 'wanted' : 'unsubscribed',
          Invited: `${countOf(invited)}${invitedBy === null ? '' : ', and was invited'}`,
          'Sessions ended': sessionsEndedAt === null ? 'never' : <When at={sessionsEndedAt} />,
        }}
      />
      {sessions.length > 0 && (
        <ul className="lines" aria-label="Sessions">
          {sessions.map(({ browser, createdAt, usedAt }) => (
            <li key={createdAt}>
              {browser}{' '}
              <span className="quiet">
                signed in <When at={createdAt} />, used <When at={usedAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <Changes>
        <Credits person={person} />
        <Sessions userId={person.id} />
        <Block person={person} />
      </Changes>
    </Section>
  );
}

/** More credits are asked about, because a zero too many is easily typed. */
const mostWithoutQuestion = 10_000;

function Credits({ person: { id, email, plan: current, credits: balance } }: Pick<PersonDetails, 'person'>) {
  const [changeId, setChangeId] = useState(() => crypto.randomUUID());
  const [credits, setCredits] = useState('');
  const [plan, setPlan] = useState<string>(current);
  const [reason, setReason] = useState('');
  const hint = useId();
  const added = Number(credits.trim());
  const saving = usePersonDeed(async () => {
    const json = { changeId, credits: added, reason, ...(plan === current ? {} : { plan }) };
    await send(`/api/people/${id}/credits`, { method: 'POST', json });
    setChangeId(crypto.randomUUID());
    setCredits('');
    setReason('');
    return 'The change was saved.';
  });
  const isTooLow = balance + added < 0;
  const isReady = (added !== 0 || plan !== current) && reason.trim() !== '' && !isTooLow;
  const isLarge = Math.abs(added) > mostWithoutQuestion;
  return (
    <form className="stack desk-form" action={() => (isLarge ? undefined : saving.mutate())}>
      <div className="desk-pair">
        <TextField
          label="Add credits"
          type="number"
          step="1"
          inputMode="numeric"
          placeholder="0"
          value={credits}
          aria-describedby={hint}
          onChange={setCredits}
        />
        <Choice label="Plan" choices={allPlans.map((one) => [one, planName(one)])} value={plan} onChange={setPlan} />
      </div>
      <p id={hint} className={isTooLow ? 'problem' : 'quiet'}>
        {isTooLow ? `You can remove ${creditsOf(balance)} at most.` : 'A negative number removes credits.'}
      </p>
      <TextField label="Reason" value={reason} maxLength={500} required onChange={setReason} />
      <div className="row">
        {isLarge && isReady ? (
          <Confirm
            label="Save change"
            tone="neutral"
            question={`${added > 0 ? 'Add' : 'Remove'} ${countOf(Math.abs(added))} credits ${added > 0 ? 'to' : 'from'} ${email ?? id}?`}
            onConfirm={() => saving.mutateAsync().catch(() => undefined)}
          />
        ) : (
          <button type="submit" className="primary" disabled={!isReady || saving.isPending}>
            Save change
          </button>
        )}
        <Problem of={saving.error} />
      </div>
    </form>
  );
}

const usePersonDeed = (work: () => Promise<string>) => useDeed(work, ['people']);

function Sessions({ userId }: { readonly userId: string }) {
  const ending = usePersonDeed(async () => {
    await send(`/api/people/${userId}/sessions`, { method: 'DELETE' });
    return 'The sessions were ended.';
  });
  return (
    <div className="desk-deed">
      <p className="quiet">{texts.ending}</p>
      <Confirm label="End sessions" question="Sign out everywhere?" onConfirm={() => ending.mutateAsync()} />
      <Problem of={ending.error} />
    </div>
  );
}

export function Block({ person: { id, email, blockedAt } }: { readonly person: Person }) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const isBlocked = blockedAt !== null;
  const changing = usePersonDeed(async () => {
    await send(`/api/people/${id}/block`, isBlocked ? { method: 'DELETE' } : { method: 'POST', json: { reason } });
    return isBlocked ? 'The account was unblocked.' : 'The account was blocked.';
  });
  const name = email ?? id;
  return (
    <div className="desk-deed">
      <p className="quiet">{(isBlocked ? texts.blocked : texts.blocking).replace('{}', name)}</p>
      {isBlocked ? (
        <Confirm
          label="Unblock"
          tone="neutral"
          question={`Let ${name} sign in again?`}
          onConfirm={() => changing.mutateAsync()}
        />
      ) : (
        <button type="button" className="danger" onClick={() => setOpen(true)}>
          Block …
        </button>
      )}
      {!isOpen && <Problem of={changing.error} />}
      {isOpen && (
        <SaveForm
          title={`Block ${name}?`}
          of={changing}
          submit={`Block ${name}`}
          tone="danger"
          isReady={reason.trim() !== ''}
          canCancel
          onClose={() => setOpen(false)}
        >
          <ul className="plain-list">
            {block.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
          <TextField label="Reason, for operators only" value={reason} maxLength={500} required onChange={setReason} />
        </SaveForm>
      )}
    </div>
  );
}

// Everything about a person at once: an export as JSON, and the erasure from all services with its report.

function Export({ person: { id, email } }: { readonly person: Person }) {
  const exporting = usePersonDeed(async () => {
    const response = await send(`/api/people/${id}/export`, { method: 'POST' });
    saveFile(`${email ?? id}.json`, await response.blob());
    return 'The export was saved as a file.';
  });
  return (
    <div className="desk-deed">
      <p className="quiet">{texts.exporting}</p>
      <button type="button" disabled={exporting.isPending} onClick={() => exporting.mutate()}>
        {exporting.isPending ? 'Exporting …' : 'Export everything'}
      </button>
      <Problem of={exporting.error} />
    </div>
  );
}

type ErasureProps = { readonly person: Person; readonly onErased: () => void };

function Erasure({ person: { id, email, blockedAt }, onErased }: ErasureProps) {
  const [typed, setTyped] = useState('');
  const outcome = useRef<HTMLDivElement>(null);
  const name = email ?? id;
  const erasing = useMutation({
    mutationFn: () => callJson<ErasureReport>(`/api/people/${id}/erasure`, { method: 'POST', json: { confirm: true } }),
    onSuccess: ({ isComplete }) => {
      if (isComplete) onErased();
    },
    onSettled: () => outcome.current?.focus(),
  });
  const report = erasing.data;
  const isOver = report?.isComplete === true && report.pendingJobs === 0;
  return (
    <form className="stack desk-form" action={() => erasing.mutate()}>
      <p className="quiet">
        {texts.erasing} {blockedAt !== null && 'A digest of the address stays, so it stays blocked.'}
      </p>
      {!isOver && (
        <>
          <TextField label={`Type ${name} to confirm`} value={typed} autoComplete="off" onChange={setTyped} />
          <div>
            <button type="submit" className="danger" disabled={typed !== name || erasing.isPending}>
              {erasing.isPending ? 'Erasing …' : report === undefined ? 'Erase everything' : 'Erase again'}
            </button>
          </div>
        </>
      )}
      <div ref={outcome} tabIndex={-1} role="status" className="desk-outcome">
        {report && <Report report={report} />}
      </div>
      <Problem of={erasing.error} />
    </form>
  );
}

const states = {
  done: { tone: 'good', word: 'erased' },
  failed: { tone: 'bad', word: 'not finished' },
  waiting: { tone: 'quiet', word: 'waits for the other services' },
} as const;

function Report({ report: { steps, isComplete, pendingJobs, provider } }: { readonly report: ErasureReport }) {
  return (
    <>
      <p className="strong">
        {isComplete ? 'Everything has been erased.' : 'The erasure is not complete. Erase again.'}
      </p>
      <ul className="lines">
        {steps.map(({ service, status, removed, message }) => (
          <li key={service}>
            <div className="row">
              <span>{erased[service]}</span>
              <Status tone={states[status].tone}>{states[status].word}</Status>
            </div>
            <p className="quiet">{message ?? countsOf(removed)}</p>
          </li>
        ))}
      </ul>
      {isComplete && pendingJobs > 0 && (
        <p className="quiet">
          {countOf(pendingJobs)} background jobs still refer to this person. They end within two minutes. Then erase
          again to remove their records.
        </p>
      )}
      {provider === 'not_configured' && (
        <p className="problem">Delete the account at the identity provider too: IDP_SERVICE_KEY is not set.</p>
      )}
    </>
  );
}

function countsOf(removed: Readonly<Record<string, number>>): string {
  const parts = Object.entries(removed).filter(([, count]) => count > 0);
  return parts.map(([what, count]) => `${what.replaceAll('_', ' ')}: ${count}`).join(', ');
}
