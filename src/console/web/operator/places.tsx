/** Files of users: how they look, where they are, also as the same bytes, and which incidents are about them. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import type { GenerationRecord } from '#agent/records/api.ts';
import type { Incident } from '#media/incidents/api.ts';
import type { ContentPlaces } from '#media/reports/api.ts';
import type { ShownFile } from '../../runs/api.ts';
import { callJson } from '../calls.ts';
import { Changes, useConsole } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { useDeed, useRead } from '../parts/server.ts';
import { Problem, Status } from '../parts/states.tsx';
import { Line, Lines } from '../parts/tables.tsx';
import * as states from './incidentstates.ts';
import { PersonLink, useThreadTitle } from './names.tsx';

/** Where the content is, with a link if an operator can see that. */
export function PlaceLink({ of: place }: { readonly of: states.Place }) {
  const { words, href } = states.placeOf(place, useConsole().data?.addresses.edge);
  if (href === undefined) return <span>{words}</span>;
  if (href.startsWith('/operator')) return <Link href={href}>{words}</Link>;
  return (
    <a href={href} target="_blank" rel="noreferrer">
      {words}
    </a>
  );
}

/** `null`: of a conversation or an album. */
export const usePlaces = (assetId: string | null) =>
  useRead<ContentPlaces>(`/api/files/${assetId}/places`, {}, { enabled: assetId !== null });

export const openIncident = (assetId: string) =>
  callJson<Incident>('/api/incidents', { method: 'POST', json: { assetId } });

/** The title of the content, or what it is. */
export function IncidentName({ of: incident }: { readonly of: Incident }) {
  const { title, threadId } = incident;
  const thread = useThreadTitle(threadId === null || states.isAlbum(incident) ? '' : threadId);
  if (title !== null) return title;
  if (threadId !== null) return states.isAlbum(incident) ? 'Untitled album' : thread;
  return states.isDecidable(incident) ? 'Untitled image or video' : 'Blocked content';
}

export const IncidentStatus = ({ of: incident }: { readonly of: Incident }) => (
  <>
    <Status tone={states.incidentTones[incident.status] ?? 'quiet'}>{states.statusOf(incident)}</Status>
    {states.isUrgent(incident) && <Status tone="bad">urgent</Status>}
    {states.isAppealOpen(incident) && <span className="tag">appealed</span>}
  </>
);

export const Cause = ({ of: incident }: { readonly of: Incident }) => (
  <>
    <span>{states.titleOf(incident)}</span>
    {incident.reports > 0 && <span className="quiet">reported by {states.peopleOf(incident.reports)}</span>}
  </>
);

/** `isNamed`: among incidents of several people. */
export const IncidentLine = ({ of: incident, isNamed }: { readonly of: Incident; readonly isNamed?: boolean }) => (
  <Line
    name={
      <Link href={`/operator/incidents/${incident.id}`}>
        <IncidentName of={incident} />
      </Link>
    }
    note={
      <span className="record-facts">
        <IncidentStatus of={incident} />
        <Cause of={incident} />
        {isNamed && incident.ownerId !== states.nobody && <PersonLink id={incident.ownerId} />}
      </span>
    }
    at={incident.createdAt}
  />
);

const mostLines = 5;

/** Lines, of which those after the first are folded. */
export const Folded = ({ of: lines, what }: { readonly of: readonly ReactNode[]; readonly what: string }) => (
  <>
    {lines.length > 0 && <Lines>{lines.slice(0, mostLines)}</Lines>}
    {lines.length > mostLines && (
      <details>
        <summary>{`${lines.length - mostLines} more ${what}`}</summary>
        <Lines>{lines.slice(mostLines)}</Lines>
      </details>
    )}
  </>
);

/** The files of an order. Where they were made is shown once. */
export function Files({ of: { assetIds, kind, userId } }: { readonly of: GenerationRecord }) {
  const { data } = usePlaces(assetIds[0] ?? null);
  const made = data?.places.find((one) => one.assetId === assetIds[0] && one.scopeKind !== 'feed');
  return (
    <>
      {made && <PlaceLink of={made} />}
      <div className="record-files">
        {assetIds.map((assetId, index) => (
          <div key={assetId} className="record-file">
            <Picture assetId={assetId} alt={assetIds.length > 1 ? `the ${kind}, ${index + 1}` : `the ${kind}`} />
            <Places of={assetId} ownerId={userId} made={made} />
          </div>
        ))}
      </div>
    </>
  );
}

type PlacesProps = Readonly<
  Partial<Record<'ownerId' | 'but', string>> & { of: string; made?: states.Stored | undefined }
>;

/** Where a file is, what was reported about it, and how to take it down. The page has named the owner and the incident `but`. */
export function Places({ of: assetId, ownerId, but, made }: PlacesProps) {
  const { data } = usePlaces(assetId);
  const { places = [], incidents = [] } = data ?? {};
  const isKnown = ({ scopeId, isRestricted, shareIds, hiddenPages }: states.Stored) =>
    scopeId === made?.scopeId && !isRestricted && shareIds.length + hiddenPages === 0;
  const listed = places.filter((place) => place.assetId !== assetId || !isKnown(place));
  const isStored = places.some((one) => one.assetId === assetId);
  const open = incidents.find(({ status }) => status === 'open');
  return (
    <div className="stack">
      {data?.places.length === 0 && (
        <p className="quiet">
          No copy of it is stored{incidents.some((one) => one.evidenceUntil) && ', except for the encrypted evidence'}.
        </p>
      )}
      <Folded
        what="places"
        of={listed.map((place) => (
          <Line
            key={place.assetId}
            name={
              <span className="record-facts">
                <PlaceLink of={place} />
                {place.shareIds.map((shareId) => (
                  <PlaceLink key={shareId} of={{ ...place, isShared: true, shareId }} />
                ))}
              </span>
            }
            note={
              <span className="record-facts">
                {!place.isCopy && <span>The same bytes</span>}
                {place.ownerId !== ownerId && <PersonLink id={place.ownerId} />}
                {place.isRestricted && <Status tone="bad">restricted: only the owner sees it</Status>}
                {place.hiddenPages > 0 && <span>shared pages hidden: {place.hiddenPages}</span>}
              </span>
            }
          />
        ))}
      />
      <Folded
        what="incidents"
        of={incidents.flatMap((one) => (one.id === but ? [] : <IncidentLine key={one.id} of={one} isNamed />))}
      />
      {isStored && but === undefined && open && (
        <p>
          {open.assetId === assetId ? thisIsOpen : otherIsOpen}{' '}
          <Link href={`/operator/incidents/${open.id}`}>Decide there</Link>
        </p>
      )}
      {isStored && but === undefined && open === undefined && (
        <Changes>
          <div className="row">
            <OpenIncident of={assetId} />
          </div>
        </Changes>
      )}
    </div>
  );
}

const thisIsOpen = 'An incident about this file is open.';
const otherIsOpen = 'No other incident is needed: a decision about one that is open can include this file.';

/** The decision about it ends the incident, and its owner gets an email. So this needs a confirmation. */
function OpenIncident({ of: assetId }: { readonly of: string }) {
  // Someone who comes back finds it here.
  const opening = useDeed(
    async () => navigate(`/operator/incidents/${(await openIncident(assetId)).id}`),
    ['incidents'],
    ['files'],
  );
  return (
    <>
      <Confirm
        label="Open an incident"
        question="Open an incident? You decide there, with a reason for the owner."
        onConfirm={() => opening.mutateAsync()}
      />
      <Problem of={opening.error} />
    </>
  );
}

/** Files of a user. Nothing is shown before the operator requests it, because the audit log records each view. */
export const Pictures = ({ of: assetIds, alt }: { readonly of: readonly string[]; readonly alt: string }) => (
  <span className="record-pictures">
    {assetIds.map((id, index) => (
      <Picture key={id} assetId={id} alt={assetIds.length > 1 ? `${alt}, ${index + 1}` : alt} />
    ))}
  </span>
);

type ShowProps = { readonly of: UseQueryResult; readonly title: string; readonly label?: string };

/** In the place of the picture that it requests. */
export const Show = ({ of: { error, isFetching, refetch }, title, label }: ShowProps) => (
  <button
    type="button"
    className="record-picture"
    disabled={isFetching || error !== null}
    title={error?.message ?? title}
    aria-label={label}
    onClick={() => refetch()}
  >
    {error === null ? 'Show' : 'Gone'}
  </button>
);

export function Picture({ assetId, alt }: { readonly assetId: string; readonly alt: string }) {
  const [isLarge, setLarge] = useState(false);
  const query = useQuery({
    queryKey: ['file', assetId],
    queryFn: () => callJson<ShownFile>(`/api/files/${assetId}`),
    enabled: false,
    retry: false,
  });
  const label = query.error === null ? `Show ${alt}` : `${alt} no longer exists`;
  if (query.data === undefined) return <Show of={query} title="The audit log records each view." label={label} />;
  const { mime, url, thumbUrl } = query.data;
  return (
    <>
      <button type="button" className="record-picture" title="Show it larger" onClick={() => setLarge(true)}>
        {thumbUrl === null ? mime : <img src={thumbUrl} alt={alt} />}
      </button>
      {isLarge && (
        <Dialog title={alt} isWide onClose={() => setLarge(false)}>
          {mime.startsWith('image/') && <img className="record-large" src={url} alt={alt} />}
          {mime.startsWith('video/') && (
            // biome-ignore lint/a11y/useMediaCaption: models make no captions
            <video className="record-large" src={url} controls />
          )}
          <a href={url} target="_blank" rel="noreferrer">
            Open the file
          </a>
          <Places of={assetId} />
        </Dialog>
      )}
    </>
  );
}
