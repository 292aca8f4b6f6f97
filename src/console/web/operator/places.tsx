/** Where content is, as it is or as the same bytes, and which incidents are about it. */
import { useMutation } from '@tanstack/react-query';
import { Link } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import type { Incident } from '#media/incidents/api.ts';
import type { ContentPlaces } from '#media/reports/api.ts';
import { callJson } from '../calls.ts';
import { Changes, useConsole } from '../operator.tsx';
import { useRead } from '../parts/reading.ts';
import { Problem } from '../parts/states.tsx';
import { Line, Lines } from './activity.tsx';
import { isDecidable, type Place, placeOf, statusOf, titleOf } from './incidentstates.ts';
import { PersonLink } from './names.tsx';

/** Where the content is, with a link if an operator can see that. */
export function PlaceLink({ of: place }: { readonly of: Place }) {
  const { words, href } = placeOf(place, useConsole().data?.addresses.edge);
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
  useRead<ContentPlaces>(['incidents', 'places', assetId], `/api/files/${assetId}/places`, {
    enabled: assetId !== null,
  });

type Stored = ContentPlaces['places'][number];

/** The place of an asset, and the pages that show it. */
const PlaceLinks = ({ of: place }: { readonly of: Stored }) => (
  <span className="record-facts">
    <PlaceLink of={place} />
    {place.shareIds.map((shareId) => (
      <PlaceLink key={shareId} of={{ ...place, isShared: true, shareId }} />
    ))}
  </span>
);

/** Open incidents, and uploads of the same bytes without one, which a decision does not reach. */
export function undecidedIn({ places, incidents }: ContentPlaces): readonly (Incident | Stored)[] {
  const open = incidents.filter((one) => one.status === 'open' && isDecidable(one));
  const isOpen = ({ assetId }: Stored) => open.some((one) => one.assetId === assetId);
  return [...open, ...places.filter((one) => !one.isCopy && !one.isRestricted && !isOpen(one))];
}

export const openIncident = (assetId: string) =>
  callJson<Incident>('/api/incidents', { method: 'POST', json: { assetId } });

export function Places({ of: { id, assetId } }: { readonly of: Incident }) {
  const { data } = usePlaces(assetId);
  if (data === undefined) return null;
  return (
    <section aria-labelledby="places">
      <h2 id="places">This content everywhere</h2>
      {data.places.length === 0 && <p className="quiet">No copy of it is stored.</p>}
      <Lines>
        {data.places.map((place) => (
          <Line
            key={place.assetId}
            name={<PlaceLinks of={place} />}
            note={
              <>
                {place.isCopy ? 'A decision applies to it. Of ' : 'The same bytes, uploaded again by '}
                <PersonLink id={place.ownerId} />
                {place.isRestricted && ', restricted'}
              </>
            }
          />
        ))}
        {data.incidents.map((one) => one.id !== id && <IncidentLine key={one.id} of={one} />)}
      </Lines>
    </section>
  );
}

export const IncidentLine = ({ of: one }: { readonly of: Incident }) => (
  <Line
    name={
      <Link href={`/operator/incidents/${one.id}`}>
        {titleOf(one)}
        {one.title !== null && `: ${one.title}`}
      </Link>
    }
    note={`Incident, ${statusOf(one)}`}
    at={one.createdAt}
  />
);

/** Where a file is, and the incident in which operators decide about it. */
export function FileActions({ assetId }: { readonly assetId: string }) {
  const { places = [], incidents = [] } = usePlaces(assetId).data ?? {};
  const opening = useMutation({
    mutationFn: async () => navigate(`/operator/incidents/${(await openIncident(assetId)).id}`),
  });
  const isStored = places.some((one) => one.assetId === assetId);
  return (
    <span className="record-actions">
      {places.map((place) => place.isCopy && <PlaceLinks key={place.assetId} of={place} />)}
      {incidents.map((one) => (
        <Link key={one.id} href={`/operator/incidents/${one.id}`}>
          Incident, {statusOf(one)}
        </Link>
      ))}
      {isStored && incidents.every(({ status }) => status !== 'open') && (
        <Changes>
          <button type="button" className="danger" disabled={opening.isPending} onClick={() => opening.mutate()}>
            Take down …
          </button>
        </Changes>
      )}
      <Problem of={opening.error} />
    </span>
  );
}
