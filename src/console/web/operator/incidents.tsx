/** What screening blocked and people reported: the list with its filters, rescreening, and one incident with its decision. */
import { Link, useParams } from 'wouter';
import type { Incident, IncidentCounts, IncidentPage } from '#media/incidents/api.ts';
import type { RescreeningProgress } from '../../../client/media/api.ts';
import { send } from '../calls.ts';
import { useMayChange } from '../operator.tsx';
import { countOf, plural } from '../parts/figures.tsx';
import { ChoiceFilter, Choices, Listing, useFilters, usePages } from '../parts/listing.tsx';
import { useDeed, useRead } from '../parts/server.ts';
import { Empty, PageHead, Problem } from '../parts/states.tsx';
import { Entry } from './entry.tsx';
import { Glance, IncidentDetails } from './incident.tsx';
import { isAlbum, isDecidable, isRemoved, isUrgent, nobody } from './incidentstates.ts';
import { PersonLink } from './names.tsx';
import { Cause, Folded, IncidentLine, IncidentName, IncidentStatus, PlaceLink } from './places.tsx';

export type Listed = IncidentPage & { readonly counts: IncidentCounts };

export function Incidents() {
  const { incidentId } = useParams<{ incidentId?: string }>();
  return incidentId === undefined ? <List /> : <IncidentDetails key={incidentId} id={incidentId} />;
}

const orders = [
  ['', 'Children and intimate images first'],
  ['newest', 'Newest first'],
] as const;
/** In the URL: empty is the first one. */
const filters = [
  ['', 'Open', { status: 'open' }, ({ open }: IncidentCounts) => open],
  ['appealed', 'Appealed', { appealed: 'open' }, ({ openAppeals }: IncidentCounts) => openAppeals],
  ['upheld', 'Action taken', { status: 'upheld' }, ({ upheld }: IncidentCounts) => upheld],
  ['cleared', 'Allowed', { status: 'cleared' }, ({ cleared }: IncidentCounts) => cleared],
  ['all', 'All', {}, ({ open, upheld, cleared }: IncidentCounts) => open + upheld + cleared],
] as const;

function List() {
  const { of, change } = useFilters();
  const [chosen, , query] = filters.find(([value]) => value === of('status')) ?? filters[0];
  const pages = usePages<Listed>('/api/incidents', {
    ...query,
    list: of('list'),
    ownerId: of('ownerId'),
    order: of('order') || 'priority',
  });
  const counts = pages.data?.pages[0]?.counts;
  const lists = Object.entries(counts?.lists ?? {}).map(
    ([name, count]) => [name, `${name === 'report' ? 'Reports of people' : name} (${countOf(count)})`] as const,
  );
  return (
    <>
      <PageHead title="Incidents">
        Content that was blocked, flagged, or reported by people. After an action, it is blocked, restricted or removed.
      </PageHead>
      <div className="row desk-filters">
        <Choices
          label="Status"
          of={filters.map(([value, name, , countIn]) => [value, `${name} ${counts ? countOf(countIn(counts)) : '…'}`])}
          chosen={chosen}
          choose={(status) => change({ status })}
        />
        <ChoiceFilter name="list" label="List" className="field desk-list" choices={[['', 'All lists'], ...lists]} />
        <ChoiceFilter name="order" label="Order" className="field desk-list" choices={orders} />
      </div>
      {of('ownerId') !== '' && (
        <p className="quiet">
          Only those of <PersonLink id={of('ownerId')} />.{' '}
          <Link href="/operator/incidents">Show those of everyone</Link>
        </p>
      )}
      <Listing
        pages={pages}
        label="Incidents"
        itemsOf={({ incidents }) => groupsOf(incidents)}
        keyOf={([{ id }]) => id}
        empty={<Empty title="No incidents here." />}
      >
        {([first, ...others]) => <Row incident={first} others={others} />}
      </Listing>
      <Rescreening />
    </>
  );
}

function pictureOf(incident: Incident): string {
  if (incident.assetId === null) return isAlbum(incident) ? 'album' : 'text';
  if (isRemoved(incident)) return 'removed';
  return incident.isGone ? 'deleted' : 'blocked';
}

type Group = [first: Incident, ...others: Incident[]];

/** The incidents of a page about the same bytes, in the place of the first: urgent ones, then those that most people reported. */
const groupsOf = (incidents: readonly Incident[]): readonly Group[] =>
  Object.values(Object.groupBy(incidents, ({ id, sha256 }) => `of ${sha256 || id}`)).map(
    (group = []) =>
      group.toSorted((one, other) => +isUrgent(other) - +isUrgent(one) || other.reports - one.reports) as Group,
  );

function Row({ incident, others }: { readonly incident: Incident; readonly others: readonly Incident[] }) {
  const { id, title, assetId, ownerId, createdAt, isGone, openAlike } = incident;
  const openHere = [incident, ...others].filter(({ status }) => status === 'open').length;
  return (
    <Entry
      picture={
        assetId !== null && isDecidable(incident) && !isGone ? (
          <Glance id={id} />
        ) : (
          <span className="record-picture quiet">{pictureOf(incident)}</span>
        )
      }
      title={
        <Link href={`/operator/incidents/${id}`} className="record-name" title={title ?? undefined}>
          <IncidentName of={incident} />
        </Link>
      }
      status={<IncidentStatus of={incident} />}
      at={createdAt}
    >
      <p className="record-facts">
        <Cause of={incident} />
        {openAlike > openHere && <span className="tag">{plural(openAlike, 'open incident')} about this content</span>}
      </p>
      <p className="quiet record-facts">
        {ownerId === nobody ? <span>owner erased</span> : <PersonLink id={ownerId} />}
        <PlaceLink of={incident} />
      </p>
      <Folded
        what="incidents about the same content"
        of={others.map((one) => <IncidentLine key={one.id} of={one} isNamed />)}
      />
    </Entry>
  );
}

function Rescreening() {
  const mayChange = useMayChange();
  const { data } = useRead<RescreeningProgress>(
    '/api/rescreening',
    {},
    {
      refetchInterval: ({ state }) => (state.data && isRunning(state.data) ? 1000 : 15_000),
    },
  );
  const starting = useDeed(() => send('/api/rescreening', { method: 'POST' }), ['rescreening']);
  const running = data !== undefined && isRunning(data);
  return (
    <section className="card desk-rescreening" aria-label="Rescreening">
      <div>
        <p className="strong">Rescreening</p>
        <p className="quiet" role="status">
          {data === undefined ? 'Reading the progress …' : progressOf(data)}
        </p>
        {running && (
          <progress
            aria-label="Assets checked"
            max={Math.max(1, data.total)}
            value={data.checked + data.withoutDigests}
          />
        )}
      </div>
      {mayChange && (
        <button type="button" disabled={running || starting.isPending} onClick={() => starting.mutate()}>
          Rescreen all assets
        </button>
      )}
      <Problem of={starting.error} />
    </section>
  );
}

const isRunning = ({ startedAt, finishedAt }: RescreeningProgress) => startedAt !== null && finishedAt === null;

function progressOf({ startedAt, finishedAt, total, checked, blocked, withoutDigests }: RescreeningProgress): string {
  if (startedAt === null) return 'Matches all stored assets with the current lists. No run yet.';
  const counts = `${countOf(checked)} checked, ${countOf(blocked)} blocked`;
  const unhashed = withoutDigests > 0 ? `, ${countOf(withoutDigests)} without digests` : '';
  return finishedAt === null ? `${counts} of ${countOf(total)}` : `Last run: ${counts}${unhashed}`;
}
