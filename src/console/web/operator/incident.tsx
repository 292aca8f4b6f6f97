/** One incident: its facts, the reports, the appeal of the owner, a look where one exists, and the decision. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { ActionPage } from '#accounts/people/api.ts';
import type { Incident, IncidentPage } from '#media/incidents/api.ts';
import { send } from '../calls.ts';
import { momentOf, plural, When } from '../parts/figures.tsx';
import { useRead } from '../parts/server.ts';
import { Pending, Problem, Section } from '../parts/states.tsx';
import { Line, Lines, Pairs } from '../parts/tables.tsx';
import { EntryPage } from './entry.tsx';
import * as states from './incidentstates.ts';
import { Id, PersonLink } from './names.tsx';
import { actorOf, deedOf } from './personview.ts';
import { IncidentStatus, PlaceLink, Places, Show } from './places.tsx';
import { Decision, Reports } from './reports.tsx';
import { dayNameOf } from './units.ts';

export function IncidentDetails({ id }: { readonly id: string }) {
  const query = useRead<Incident>(`/api/incidents/${encodeURIComponent(id)}`);
  return (
    <EntryPage of={query} kind="incident" list={['/operator/incidents', 'All incidents']}>
      {(incident) => <Facts incident={incident} />}
    </EntryPage>
  );
}

function Facts({ incident }: { readonly incident: Incident }) {
  const { id, title, ownerId, assetId, threadId, sha256, origin, createdAt, reports, appeal, generation, isGone } =
    incident;
  const isThere = states.isDecidable(incident);
  return (
    <>
      <header className="page">
        <div>
          <h1>{states.titleOf(incident)}</h1>
          {title !== null && <p className="desk-quote">{title}</p>}
        </div>
        <span className="record-facts">
          <IncidentStatus of={incident} />
        </span>
      </header>
      <div className="desk-columns">
        <div className="stack">
          <section aria-label="Facts">
            <Pairs
              className="pairs desk-pairs"
              of={{
                ...(isThere ? { Since: <When at={createdAt} /> } : { Blocked: momentOf(createdAt) }),
                ...(reports > 0 && { 'Reported by': states.peopleOf(reports) }),
                Owner: ownerId === states.nobody ? 'erased' : <Owner id={ownerId} />,
                Where: <PlaceLink of={incident} />,
                ...(generation && { 'Made by': <Maker of={generation} /> }),
                ...(!isThere && { 'Same bytes remain in': origin ?? 'no other place' }),
                ...(threadId !== null &&
                  !states.isAlbum(incident) && {
                    'Conversation id': <Id of={threadId} name="conversation id" href={states.runsOf(threadId)} />,
                  }),
                ...(assetId !== null && { 'Asset id': <Id of={assetId} name="asset id" /> }),
                ...(sha256 !== '' && { 'SHA-256': <Id of={sha256} name="SHA-256" /> }),
              }}
            />
          </section>
          {reports > 0 && <Reports of={id} />}
          {assetId !== null && (
            <Section title="This content everywhere" id="places">
              <Places of={assetId} ownerId={ownerId} but={id} />
            </Section>
          )}
          <History of={incident} />
        </div>
        <div className="stack desk-aside desk-decide">
          {isGone && <p className="quiet">The {goneBy(incident)} deleted the content. No preview of it is left.</p>}
          {assetId !== null && !isGone && <Preview of={incident} />}
          {appeal !== undefined && (
            <Section title="Appeal of the owner" className="card stack">
              <p className="desk-quote">{appeal.text}</p>
              <p className="quiet">
                <When at={appeal.at} />
                {states.isAppealOpen(incident) ? ', not answered yet' : ', answered by the decision'}
              </p>
            </Section>
          )}
          <Decision incident={incident} />
        </div>
      </div>
    </>
  );
}

const goneBy = (incident: Incident) => {
  if (states.isRemoved(incident)) return 'removal';
  return incident.ownerId === states.nobody ? 'erasure of its owner' : 'owner, or another decision,';
};

/** Whether the owner has done this before. */
function Owner({ id }: { readonly id: string }) {
  const { data } = useRead<IncidentPage>('/api/incidents', { ownerId: id, limit: 200 });
  const others = (data?.incidents.length ?? 1) - 1;
  return (
    <>
      <PersonLink id={id} />,{' '}
      {others === 0 ? (
        'no other incident'
      ) : (
        <Link href={`/operator/incidents?status=all&ownerId=${id}`}>{plural(others, 'other incident')}</Link>
      )}
    </>
  );
}

/** The order shows the model, the price and the run. Orders over MCP have only a run. */
function Maker({ of: { id, taskId } }: { readonly of: NonNullable<Incident['generation']> }) {
  if (id) return <Link href={`/operator/runs?kind=generations&id=${id}`}>Its order</Link>;
  return taskId ? <Link href={`/operator/runs/${taskId}`}>Its run</Link> : 'a model';
}

/** What happened to the content, and which operator did it, the first event first. */
function History({ of: incident }: { readonly of: Incident }) {
  const { id, origin, createdAt, appeal, reports, resolvedAt, decision } = incident;
  const query = { target: `incident ${id}`, limit: 100 };
  const { data, error, refetch } = useRead<ActionPage>('/api/actions', query);
  // By whom, if the audit log has it.
  const isOpened = (data?.actions ?? []).some(({ action }) => action === 'POST /v1/incidents');
  const opened = reports > 0 ? 'Reported' : 'Opened by an operator';
  const began = { report: opened, label: 'Flagged by a rule' }[origin ?? ''] ?? 'Blocked by screening';
  const done = (data?.actions ?? []).filter(({ outcome }) => outcome.startsWith('2'));
  const events = [
    ...(isOpened && reports === 0 ? [] : [{ at: createdAt, text: began, actor: '' }]),
    ...(appeal === undefined ? [] : [{ at: appeal.at, text: 'Appealed by the owner', actor: '' }]),
    ...(resolvedAt !== null && decision === null && states.isDecidable(incident)
      ? [{ at: resolvedAt, text: 'Closed, because the owner was erased', actor: '' }]
      : []),
    ...done.map((deed) => {
      const made = states.isDecision(deed.action) ? states.decisionOf(incident, deed) : undefined;
      const text = made ? `Decided: ${made.state ?? 'a later decision replaced it'}` : deedOf(deed.action);
      const note = actorOf(deed.actor, 'an') + (made?.reason ? `: ${made.reason}` : '');
      return { at: deed.at, text: text.replace(/( of)? an incident/, ''), actor: note };
    }),
  ].toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return (
    <Section title="History">
      {data === undefined && <Pending error={error} retry={refetch} what="Reading the history" />}
      <Lines>
        {events.map(({ at, text, actor }) => (
          <Line key={`${at} ${text}`} name={text} at={at} {...(actor !== '' && { note: `by ${actor}` })} />
        ))}
      </Lines>
    </Section>
  );
}

/** Reads the content of an incident, which the audit log records. */
const useLook = (id: string, isSharp = false) =>
  useQuery({
    queryKey: ['look', id, isSharp],
    enabled: false,
    retry: false,
    // An operator who comes back requests it again.
    gcTime: 0,
    queryFn: async () => {
      const response = await send(`/api/incidents/${id}/preview${isSharp ? '?sharp=true' : ''}`);
      return URL.createObjectURL(await response.blob());
    },
  });

/** A small, blurred look from the list. */
export function Glance({ id }: { readonly id: string }) {
  const look = useLook(id);
  return look.data === undefined ? (
    <Show of={look} title="Blurred. The audit log records that you look at it." />
  ) : (
    <span className="record-picture">
      <img src={look.data} alt="The content, strongly blurred" />
    </span>
  );
}

/** Nothing is shown before the operator requests it. */
function Preview({ of: incident }: { readonly of: Incident }) {
  const { id, evidenceUntil } = incident;
  const isThere = states.isDecidable(incident);
  const [blurred, sharp] = [useLook(id), useLook(id, true)];
  const url = sharp.data ?? blurred.data;
  const isFetching = blurred.isFetching || sharp.isFetching;
  return (
    <Section title={isThere ? 'Content' : 'Blurred preview'} className="card stack">
      {url && (
        <img
          className={sharp.data ? 'desk-look sharp' : 'desk-look'}
          src={url}
          alt={sharp.data ? 'The reported content' : 'The content, strongly blurred'}
        />
      )}
      {url === undefined && (
        <p className="quiet">
          {!isThere &&
            'The blocked object was removed. If the same bytes remain elsewhere, you see 24 blurred pixels of them. '}
          Each view is recorded in the audit log.
        </p>
      )}
      {evidenceUntil !== null && (
        <p className="quiet desk-wrapped">
          Evidence is stored, encrypted, until {dayNameOf(evidenceUntil)}. To get it, call the media service with the
          internal key: <code>GET /v1/incidents/{id}/evidence</code>. The audit log records each call.
        </p>
      )}
      <div className="desk-buttons">
        {url === undefined && (
          <button type="button" disabled={isFetching} onClick={() => blurred.refetch()}>
            Show it blurred
          </button>
        )}
        {isThere && sharp.data === undefined && (
          <button type="button" disabled={isFetching} onClick={() => sharp.refetch()}>
            Show it
          </button>
        )}
      </div>
      <Problem of={sharp.error ?? blurred.error} />
    </Section>
  );
}
