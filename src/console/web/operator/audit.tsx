/** The audit log: what operators did, found by operator, action and user. */
import type { ActionPage } from '#accounts/people/api.ts';
import type { Incident, IncidentPage } from '#media/incidents/api.ts';
import { callJson } from '../calls.ts';
import { momentOf } from '../parts/figures.tsx';
import { ChoiceFilter, Filters, Listing, Period, SearchFilter, useFilters, usePages } from '../parts/listing.tsx';
import { urlOf, useRead } from '../parts/server.ts';
import { Empty, PageHead } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import { notifyFailure } from '../shell/notices.ts';
import { saveFile } from '../shell/saving.ts';
import { decisionOf, isDecision, nobody, peopleOf, titleOf } from './incidentstates.ts';
import { ActionLink, Id, isId, PersonLink, readName, useId, workOf } from './names.tsx';
import { actorOf, deedOf, deeds, differenceOf, outcomeOf } from './personview.ts';
import { moneyOf } from './units.ts';

type Action = ActionPage['actions'][number];

/** By name. Of several keys, the first is a part of the others. */
const keys = new Map(
  Object.entries(deeds)
    .toReversed()
    .map(([key, name]) => [name.replace(' of {}', '').replace('{}', 'a user'), key]),
);
const choices = [['', 'All'] as const, ...[...keys].toSorted().map(([name, key]) => [key, name] as const)];

export function Audit() {
  const { of } = useFilters();
  const [typed, actor, action, from, to] = [of('userId'), of('actor'), of('action'), of('from'), of('to')];
  const found = useId(typed);
  const userId = isId.test(found ?? '') ? (found ?? '') : '';
  const query = { actor, action, from, to, userId };
  const pages = usePages<ActionPage>('/api/actions', query);
  return (
    <>
      <PageHead title="Audit">
        Each change by an operator or a command, and each view of private content. All operators can read the entries,
        which stay until you delete them.
      </PageHead>
      <Filters className="desk-audit">
        <SearchFilter name="actor" label="Operator" placeholder="Email address" maxLength={64} />
        <ChoiceFilter name="action" label="Action" choices={choices} />
        <SearchFilter name="userId" label="User" placeholder="Email address or id" maxLength={320} />
        <Period />
        <button type="button" onClick={() => saveCsv(query).catch(notifyFailure)}>
          Export as CSV
        </button>
      </Filters>
      {typed !== '' && (
        <p className="quiet">
          Actions on the account, content, memory, jobs and emails of this user. Earlier versions recorded decisions on
          content, and changes of memories, jobs and emails, without the user: without this filter, you find them.
        </p>
      )}
      {typed !== '' && userId === '' ? (
        <Empty title={found === undefined ? 'Finding the user …' : 'No user has this email address or id.'}>
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
          {([whole, ...parts]) => <Row action={whole} parts={parts} />}
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

function Row({ action: whole, parts }: { readonly action: Action; readonly parts: readonly Action[] }) {
  const { at, actor, action, target, outcome, requestId, userId, change, reason } = whole;
  const incidentId = incidentIn(target);
  const found = { enabled: incidentId !== undefined, staleTime: 60_000 };
  const incident = useRead<Incident>(`/api/incidents/${incidentId}`, {}, found).data;
  const someone = action.includes(':entity_type') ? 'a user or group' : 'a user';
  const ownerId = userId ?? incident?.ownerId ?? nobody;
  const sentence = sentenceOf(whole);
  const isWhole = ownerId === nobody || sentence.includes('{}');
  const owned = isWhole ? '' : target.startsWith('mail ') ? ' to {}' : ' of {}';
  const [, kind, work] = /^(queue|job \S+ of|delivery \S+ of) (\S+)$/.exec(target) ?? [];
  const [before = '', after] = `${sentence}${owned}${kind ? `: ${workOf(work ?? '')}` : ''}`.split('{}');
  const result = outcomeOf(outcome);
  return (
    <>
      <div className="desk-line">
        <span className="desk-name">
          <span className="strong">{actorOf(actor)}</span> {before.charAt(0).toLowerCase() + before.slice(1)}
          {after !== undefined && (ownerId === nobody ? someone : <PersonLink id={ownerId} />)}
          {after}
        </span>
        <time className="quiet desk-figure" dateTime={at} title={exact.format(new Date(at))}>
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
      <div className="quiet wrapped desk-more-facts">
        {result !== 'done' && <span className={/^failed/.test(result) ? 'problem' : ''}>{result}</span>}
        <ActionLink of={whole} />
        <details>
          <summary>Details</summary>
          <Pairs
            of={{
              Time: exact.format(new Date(at)),
              Result: result,
              Subject: target.startsWith('sha256 ') ? hashed : target,
              ...(!/^[A-Z]+ \//.test(action) && { Recorded: <code>{action}</code> }),
              ...(requestId !== null && { 'Request id': <Id of={requestId} name="request id" /> }),
            }}
          />
        </details>
      </div>
    </>
  );
}

const hashed = 'A user, as a hash. To find the actions on a user, enter the email address above.';
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const amountOf = (usd: string) => (usd === 'none' ? usd : moneyOf(Number(usd)));

/** `{}` is the user. A change of content or of a budget has its old value in the target. */
function sentenceOf({ action, target }: Action): string {
  const edit = /^content \S+ (.+)$/.exec(target)?.[1];
  const [, period, from, to = ''] = /^budget of the (\w+): (?:(\S+)(?: USD)? to )?(\S+)/.exec(target) ?? [];
  if (period === undefined) return edit ?? deedOf(action);
  return `Changed the budget of the ${period}${from === undefined ? '' : ` from ${amountOf(from)}`} to ${amountOf(to)}`;
}

function Decision({ incident, of: action }: { readonly incident: Incident; readonly of: Action }) {
  const decided = decisionOf(incident, action);
  if (decided === undefined) return null;
  const { state, isCurrent, reason } = decided;
  return (
    <p>
      {state && `The content was ${state}. `}
      {causeOf(incident)}.{' '}
      <span className="quiet">
        {!isCurrent && 'A later decision has replaced this one. '}
        {reason && `Reason: ${reason}`}
      </span>
    </p>
  );
}

function causeOf(incident: Incident): string {
  if (incident.reasons.length > 0) return `${peopleOf(incident.reports)} reported it: ${titleOf(incident)}`;
  return incident.origin === 'report' ? 'It was not reported' : titleOf(incident);
}

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
    const page: P = await callJson<P>(urlOf(path, { ...query, cursor }));
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
        sentenceOf(row).replace('{}', 'a user'),
        (incident ? null : user) ?? (target.startsWith('sha256 ') ? 'A user, recorded as a hash' : subject),
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
