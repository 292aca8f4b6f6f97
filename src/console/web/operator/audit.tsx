/** The audit log: what operators did, found by operator, action and user. */
import { Link } from 'wouter';
import type { ActionPage, PeoplePage } from '#accounts/people/api.ts';
import type { Incident, IncidentPage } from '#media/incidents/api.ts';
import { callJson } from '../calls.ts';
import { Choice } from '../parts/fields.tsx';
import { momentOf, sinceThen } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, PageHead } from '../parts/states.tsx';
import { notifyFailure } from '../shell/notices.ts';
import { saveFile } from '../shell/saving.ts';
import './desk.css';
import './operator.css';
import { Filters, Listing, Period, SearchField, useFilters, usePages } from '../parts/listing.tsx';
import { decisionOf, isDecision, nobody, titleOf } from './incidentstates.ts';
import { PersonLink, readName, Viewed } from './names.tsx';
import { actorOf, deedOf, deeds, differenceOf, outcomeOf } from './personview.ts';

type Action = ActionPage['actions'][number];

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** By name. Of several keys, the first is a part of the others. */
const keys = new Map(
  Object.entries(deeds)
    .toReversed()
    .map(([key, name]) => [name.replace(' of {}', '').replace('{}', 'a user'), key]),
);
const choices = [['', 'All'] as const, ...[...keys].toSorted().map(([name, key]) => [key, name] as const)];

export function Audit() {
  const { of, change } = useFilters();
  const [typed, actor, action, from, to] = [of('userId'), of('actor'), of('action'), of('from'), of('to')];
  const isEmail = typed.includes('@');
  const { data } = useRead<PeoplePage>(['people', typed], `/api/people?${new URLSearchParams({ q: typed })}`, {
    enabled: isEmail,
  });
  const found = data?.people.find(({ email }) => email?.toLowerCase() === typed.toLowerCase());
  const userId = isEmail ? (found?.id ?? '') : isId(typed) ? typed : '';
  const query = { actor, action, from, to, userId };
  const pages = usePages<ActionPage>('actions', '/api/actions', query);
  const field = (name: string, label: string, placeholder: string, maxLength: number) => (
    <SearchField
      label={label}
      placeholder={placeholder}
      maxLength={maxLength}
      value={of(name)}
      onChange={(value) => change({ [name]: value })}
    />
  );
  return (
    <>
      <PageHead title="Audit">
        The actions of operators and commands, newest first. Users are recorded as a hash. The page finds the newest
        users, and those whose credits were changed. To find another one, enter the email address or the id.
      </PageHead>
      <Filters className="desk-audit">
        {field('actor', 'Operator', 'Email address', 64)}
        <Choice label="Action" choices={choices} value={action} onChange={(value) => change({ action: value })} />
        {field('userId', 'User', 'Email address or id', 320)}
        <Period />
        <button type="button" onClick={() => saveCsv(query).catch(notifyFailure)}>
          Export as CSV
        </button>
      </Filters>
      {typed !== '' && userId === '' ? (
        <Empty title={isEmail && data === undefined ? 'Finding the user …' : 'No user has this email address or id.'}>
          <p>Enter it completely. Actions on a user who was erased are found by the id only.</p>
        </Empty>
      ) : (
        <Listing
          pages={pages}
          label="Actions"
          itemsOf={({ actions }) => deedsOf(actions)}
          keyOf={([{ at, actor: name, action: actionName, target }]) => `${at} ${name} ${actionName} ${target}`}
          empty={
            <Empty title="No actions match.">
              <p>Each change that an operator or a command makes appears here.</p>
            </Empty>
          }
        >
          {([whole, ...parts]) => <Entry action={whole} parts={parts} />}
        </Listing>
      )}
    </>
  );
}

const incidentIn = (target: string) => /^incident (\S+)$/.exec(target)?.[1];

type Deed = readonly [whole: Action, ...parts: Action[]];

/**
 * A request that called other services is recorded by each of them, and last by its own. A change of content is recorded when it begins
 * and when it ends.
 */
function deedsOf(actions: readonly Action[]): readonly Deed[] {
  const deeds: [Action, ...Action[]][] = [];
  for (const [at, action] of actions.entries()) {
    const { outcome, requestId } = action;
    if (outcome === 'begun' && actions.slice(0, at).some((ended) => ended.requestId === requestId)) continue;
    const last = deeds.at(-1);
    const isPart = requestId !== null && requestId === last?.[0].requestId && action.action !== last[0].action;
    if (isPart) last?.push(action);
    else deeds.push([action]);
  }
  return deeds;
}

function Entry({ action: whole, parts }: { readonly action: Action; readonly parts: readonly Action[] }) {
  const { at, actor, action, target, outcome, requestId, userId, change, reason } = whole;
  const isOfUser = target.startsWith('sha256 ');
  const incidentId = incidentIn(target);
  const incident = useRead<Incident>(['incident', incidentId], `/api/incidents/${incidentId}`, {
    enabled: incidentId !== undefined,
    staleTime: 60_000,
  }).data;
  const queue = /^(?:job \S+ of|queue) (\S+)$/.exec(target)?.[1];
  // What was done to the public content.
  const edit = /^content \S+ (.+)$/.exec(target)?.[1];
  const [before = '', after] = (edit ?? deedOf(action)).split('{}');
  return (
    <>
      <div className="desk-line">
        <span className="desk-name" title={action}>
          <span className="strong">{actorOf(actor)}</span> {before.charAt(0).toLowerCase() + before.slice(1)}
          {after !== undefined && (userId === null ? 'a user' : <PersonLink id={userId} />)}
          {after}
          {after === undefined && userId !== null && (
            <>
              {', '}
              <PersonLink id={userId} />
            </>
          )}
          {incident && incident.ownerId !== nobody && (
            <>
              {' of '}
              <PersonLink id={incident.ownerId} />
            </>
          )}
        </span>
        <time className="quiet desk-figure" dateTime={at} title={sinceThen(at)}>
          {momentOf(at)}
        </time>
      </div>
      {change !== null && (
        <p>
          {differenceOf(change)}. <span className="quiet">Reason: {change.reason}</span>
        </p>
      )}
      {reason !== null && <p className="quiet">Reason: {reason}</p>}
      {incident && isDecision(action) && <Decision incident={incident} of={whole} />}
      {parts.length > 0 && (
        <ul className="quiet desk-parts">
          {parts.map((part) => (
            <li key={`${part.at} ${part.action}`}>
              {deedOf(part.action).replace(' of {}', '')}: {outcomeOf(part.outcome)}
            </li>
          ))}
        </ul>
      )}
      <p className="quiet wrapped facts">
        <span>{outcomeOf(outcome)}</span>
        <Viewed of={action} />
        {isOfUser && userId === null && <span>the user is recorded as a hash</span>}
        {incidentId && <Link href={`/operator/incidents/${incidentId}`}>Open the incident</Link>}
        {queue !== undefined && <Link href={`/operator/jobs?queue=${encodeURIComponent(queue)}`}>{target}</Link>}
        {!isOfUser && !incidentId && !edit && queue === undefined && !action.endsWith(target) && <span>{target}</span>}
        {requestId !== null && (
          <span>
            Request id <code>{requestId}</code>
          </span>
        )}
      </p>
    </>
  );
}

function Decision({ incident, of: action }: { readonly incident: Incident; readonly of: Action }) {
  const decided = decisionOf(incident, action);
  if (decided === undefined) return null;
  const { state, isCurrent, reason } = decided;
  return (
    <p>
      {state && `The content was ${state}. `}
      {isCurrent && `${incident.reasons.length > 0 ? 'People reported it: ' : ''}${causeOf(incident)}. `}
      <span className="quiet">
        {!isCurrent && 'A later decision has replaced this one. '}
        {reason && `Reason: ${reason}`}
      </span>
    </p>
  );
}

const causeOf = (incident: Incident) =>
  incident.origin === 'report' && incident.reasons.length === 0 ? 'It was not reported' : titleOf(incident);

const mostExported = 10_000;
const columns = ['Time', 'Operator', 'Action', 'Subject', 'Decision', 'Reason', 'Result', 'Link', 'Request id'];

/** In quotes. A spreadsheet takes what begins like a formula as text. */
const cellOf = (text: string | null | undefined) => `"${(text ?? '').replace(/^[=+@-]/, "'$&").replaceAll('"', '""')}"`;

async function readAll<P extends { readonly next_cursor: string | null }>(
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<readonly P[]> {
  const pages: P[] = [];
  const limit = Number(query.limit);
  for (let cursor: string | null = ''; cursor !== null && pages.length * limit < mostExported; ) {
    const filters = Object.entries({ ...query, cursor }).filter(([, value]) => value !== '');
    const page: P = await callJson<P>(`${path}?${new URLSearchParams(filters)}`);
    pages.push(page);
    cursor = page.next_cursor;
  }
  return pages;
}

/** What a person reads: names instead of ids and routes, and a link to the subject of each action. */
async function saveCsv(query: Readonly<Record<string, string>>): Promise<void> {
  const rows = (await readAll<ActionPage>('/api/actions', { ...query, limit: '500' })).flatMap((page) => page.actions);
  const hasDecisions = rows.some(({ action }) => isDecision(action));
  const pages = hasDecisions ? await readAll<IncidentPage>('/api/incidents', { limit: '200' }) : [];
  const incidents = new Map(pages.flatMap((page) => page.incidents).map((one) => [one.id, one]));
  const lines = await Promise.all(
    rows.map(async (row) => {
      const { at, actor, action, target, outcome, requestId, userId, change, reason } = row;
      const user = userId === null ? null : ((await readName(userId)) ?? userId);
      const incidentId = incidentIn(target);
      const incident = incidents.get(incidentId ?? '');
      const decided = incident && isDecision(action) ? decisionOf(incident, row) : undefined;
      const path = incidentId ? `incidents/${incidentId}` : userId && `people/${userId}`;
      const subject = incident ? (incident.title ?? titleOf(incident)) : target;
      return [
        at,
        actor,
        deedOf(action).replace('{}', 'a user'),
        user ?? (target.startsWith('sha256 ') ? 'A user, recorded as a hash' : subject),
        change ? differenceOf(change) : decided?.state,
        change?.reason ?? decided?.reason ?? reason,
        outcomeOf(outcome),
        path && `${location.origin}/operator/${path}`,
        requestId,
      ].map(cellOf);
    }),
  );
  saveFile('audit.csv', new Blob([[columns, ...lines].join('\r\n')], { type: 'text/csv' }));
}
