import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { When } from '../parts/figures.tsx';
import { Empty, Pending } from '../parts/states.tsx';
import { backOffice, type Profile } from './backoffice.ts';
import { ProfileDetails } from './profiledetails.tsx';

interface Page {
  readonly profiles: readonly Profile[];
  readonly next_cursor: string | null;
}

export function Profiles() {
  const queries = useQueryClient();
  const [q, setQ] = useState('');
  const [opened, setOpened] = useState<Profile>();
  const listing = useInfiniteQuery({
    queryKey: ['profiles', q],
    queryFn: ({ pageParam }) =>
      backOffice<Page>(
        `/profiles?${new URLSearchParams({ ...(q && { q }), ...(pageParam && { cursor: pageParam }) })}`,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const profiles = listing.data?.pages.flatMap((page) => page.profiles) ?? [];
  return (
    <>
      <search className="filters">
        <label className="field">
          Search
          <input
            type="search"
            value={q}
            onChange={(event) => setQ(event.target.value)}
            placeholder="Entity, summary, fact"
          />
        </label>
      </search>
      {listing.data === undefined ? (
        <Pending error={listing.error} retry={listing.refetch} what="Reading profiles" />
      ) : profiles.length === 0 ? (
        <Empty title="No profiles." />
      ) : (
        <ul className="lines">
          {profiles.map((profile) => (
            <li key={`${profile.entity_type} ${profile.entity_id}`}>
              <button type="button" className="entry" onClick={() => setOpened(profile)}>
                <span>{profile.summary || 'No summary'}</span>
                <span className="quiet">
                  {profile.entity_type} {profile.entity_id} · {factsOf(profile)} · <When at={profile.updated_at} />
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {listing.hasNextPage && (
        <button type="button" disabled={listing.isFetchingNextPage} onClick={() => listing.fetchNextPage()}>
          Show more
        </button>
      )}
      {opened && (
        <ProfileDetails
          profile={opened}
          onClose={() => setOpened(undefined)}
          onChange={() => queries.invalidateQueries({ queryKey: ['profiles'] })}
        />
      )}
    </>
  );
}

function factsOf({ facts }: Profile): string {
  const count = Object.keys(facts).length;
  return count === 1 ? '1 fact' : `${count} facts`;
}
