/** What a person does and has: usage, threads, files, memories, mails, incidents, and what operators did. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { PersonDetails } from '#accounts/people/api.ts';
import type { UserUsage } from '#agent/operatorapi.ts';
import type { Part } from '../../services.ts';
import { countOf, plural, sizeOf } from '../parts/figures.tsx';
import { Section } from '../parts/states.tsx';
import { Line, Lines, Table } from '../parts/tables.tsx';
import { Entry, OrderLink, RunLink } from './entry.tsx';
import { ActionLink, ModelLink, mailStateOf, runsHref, tokensOf, useCosts, useModelNames } from './names.tsx';
import { actorOf, deedOf, differenceOf, outcomeOf, type PersonView } from './personview.ts';
import { IncidentLine, Pictures } from './places.tsx';
import { dayMs, dayNameOf, dayOf } from './units.ts';

/** The console reads the newest. */
const mostThreads = 20;

export function Activity({ view }: { readonly view: PersonView }) {
  const { person, actions } = view.record;
  const modelNameOf = useModelNames();
  const costOf = useCosts();
  const runs = `/operator/runs?userId=${person.id}`;
  const all = view.conversations.isThere ? view.conversations.value.threads : 0;
  return (
    <div className="desk-sections">
      <ItemsOf
        title="Usage"
        part={view.usage}
        empty="No runs in the last 30 days."
        listOf={({ days }) => days}
        whole={(days) => (
          <Table
            label="Usage by day and model"
            head={['Day and model', 'Runs', 'Tokens', 'Images', 'Videos', 'Credits', 'Cost']}
            rows={days.map(({ day, model, inputTokens, outputTokens, costUsd, ...used }) => ({
              key: `${day} ${model}`,
              cells: [
                <ModelLink
                  key="day"
                  of={model}
                  before={`${dayNameOf(day)}, `}
                  href={runsHref({ userId: person.id, model, from: day, to: day }, used.runs)}
                />,
                countOf(used.runs),
                tokensOf(inputTokens + outputTokens),
                ...[used.images, used.videos, used.credits].map(countOf),
                costOf(costUsd, model),
              ],
            }))}
          />
        )}
      />
      <ItemsOf
        title="Threads"
        part={view.threads}
        empty="No threads."
        listOf={({ threads }) => threads}
        more={all > mostThreads && <Link href={runs}>{`${mostThreads} of ${countOf(all)}, all in Runs`}</Link>}
      >
        {({ threadId, title, messageCount, updatedAt }) => (
          <Line
            key={threadId}
            name={<Link href={`/operator/runs?threadId=${encodeURIComponent(threadId)}`}>{title || 'Untitled'}</Link>}
            note={plural(messageCount, 'message')}
            at={updatedAt}
          />
        )}
      </ItemsOf>
      <ItemsOf
        title="Latest files"
        part={view.assets}
        empty="No files."
        listOf={({ assets }) => assets}
        more={<Link href={`${runs}&kind=generations`}>All images and videos</Link>}
      >
        {({ assetId, name, prompt, model, mime, byteSize, scopeKind, createdAt, generation }) => (
          <li key={assetId}>
            <Entry
              picture={<Pictures of={[assetId]} alt={name ?? prompt ?? 'the file'} />}
              title={name ?? prompt ?? (model === null ? 'An upload without a name' : 'A file without a name')}
              at={createdAt}
              facts={[
                // Of files without an order, only the name that the model gave is known.
                model !== null && (generation ? modelNameOf(generation.model) : model),
                `${mime}, ${sizeOf(byteSize)}`,
                scopeKind === 'feed' && 'published in Explore',
                generation?.taskId && <RunLink key="run" id={generation.taskId} />,
                generation?.id && <OrderLink key="order" id={generation.id} />,
              ]}
            />
          </li>
        )}
      </ItemsOf>
      <ItemsOf
        title="Memories"
        part={view.memories}
        empty="No memories."
        listOf={({ memories }) => memories}
        more={<Link href={`/operator/memory?entity_id=${person.id}`}>Open memory</Link>}
      >
        {({ id, content }) => <Line key={id} name={content} />}
      </ItemsOf>
      {view.mails !== null && (
        <ItemsOf title="Emails" part={view.mails} empty="No emails in the last 30 days." listOf={({ mails }) => mails}>
          {({ id, subject, status, inOutbox, isDelayed, createdAt }) => (
            <Line
              key={id}
              name={
                <Link href={`/operator/mail?${new URLSearchParams({ tab: 'sent', q: subject, id })}`}>
                  {subject || 'No subject'}
                </Link>
              }
              note={mailStateOf(isDelayed ? 'delayed' : status, inOutbox)}
              at={createdAt}
            />
          )}
        </ItemsOf>
      )}
      <ItemsOf title="Incidents" part={view.incidents} empty="No incidents." listOf={({ incidents }) => incidents}>
        {(incident) => <IncidentLine key={incident.id} of={incident} />}
      </ItemsOf>
      <ItemsOf
        title="Credit ledger"
        part={{ isThere: true, value: view.usage.isThere ? view.usage.value.days : undefined }}
        empty="No operator has changed the credits. The charges are not available."
        listOf={(days) => ledgerOf(days, view.record)}
      >
        {({ at, ...entry }) => <Line key={at + entry.name} {...entry} {...(at.includes('T24') ? {} : { at })} />}
      </ItemsOf>
      <ItemsOf
        title="Audit"
        part={{ isThere: true, value: actions }}
        empty="No operator has changed this account. Decisions about content are under Incidents."
        listOf={(all) => all}
        more={<Link href={`/operator/audit?userId=${person.id}`}>Open audit</Link>}
      >
        {({ at, actor, action, outcome }) => (
          <Line
            key={`${at} ${action}`}
            name={deedOf(action).replace('{}', 'this person')}
            note={
              <span className="facts">
                <span>
                  {actorOf(actor)}, {outcomeOf(outcome)}
                </span>
                <ActionLink of={{ action, target: '' }} />
              </span>
            }
            at={at}
          />
        )}
      </ItemsOf>
      <p className="unseen">End of the activity of {person.email ?? person.id}</p>
    </div>
  );
}

const signed = new Intl.NumberFormat(undefined, { signDisplay: 'always' });

/** Changes by operators, and what each day was charged for. The newest first. With the first balance, they add up to the current one. */
function ledgerOf(days: UserUsage['days'] | undefined, { person, changes }: PersonDetails) {
  const first = dayOf(Date.now() - 30 * dayMs);
  const spent = [...Map.groupBy(days ?? [], ({ day }) => day)].map(([day, rows]) => {
    const credits = rows.reduce((sum, row) => sum + row.credits, 0);
    const name = `${signed.format(-credits)} for runs, images and videos`;
    return { at: `${day}T24`, name, note: `${dayNameOf(day)}, less what was returned`, credits };
  });
  const changed = changes.map((change) => {
    const credits = change.creditsAfter - change.creditsBefore;
    const name = credits === 0 ? change.reason : `${signed.format(credits)} · ${change.reason}`;
    const note = `${differenceOf(change)}, by ${actorOf(change.actor, 'an')}`;
    return { at: change.createdAt, name, note, credits: change.createdAt < first ? 0 : -credits };
  });
  const start = [...spent, ...changed].reduce((sum, { credits }) => sum + credits, person.credits);
  const opening =
    person.createdAt >= first
      ? { at: person.createdAt, name: `${signed.format(start)} · Granted at sign-up` }
      : { at: `${dayOf(Date.parse(first) - dayMs)}T24`, name: `${countOf(start)} credits on ${dayNameOf(first)}` };
  const note =
    'Calculated from the balance: also what your own programs granted, less what work in progress has reserved';
  const charged = spent.filter(({ credits }) => credits > 0);
  return [...charged, ...changed, ...(days === undefined ? [] : [{ ...opening, note }])].toSorted((a, b) =>
    a.at < b.at ? 1 : -1,
  );
}

interface ItemsProps<T, Item> {
  readonly title: string;
  readonly part: Part<T>;
  readonly empty: string;
  readonly listOf: (value: T) => readonly Item[];
  readonly more?: ReactNode;
  /** Renders an item, with its key. */
  readonly children?: (item: Item) => ReactNode;
  /** Renders all items. */
  readonly whole?: (items: readonly Item[]) => ReactNode;
}

function ItemsOf<T, Item>({ title, part, empty, listOf, more = null, children, whole }: ItemsProps<T, Item>) {
  const items = part.isThere ? listOf(part.value) : [];
  return (
    <Section title={title} more={more}>
      {!part.isThere ? (
        <p className="problem">{part.reason}</p>
      ) : items.length === 0 ? (
        <p className="quiet">{empty}</p>
      ) : (
        (whole?.(items) ?? <Lines>{items.map((item) => children?.(item))}</Lines>)
      )}
    </Section>
  );
}
