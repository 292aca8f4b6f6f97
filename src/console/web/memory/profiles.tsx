import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AdminProfile, ProfilePage } from '#memory/admin/api.ts';
import { EntityName } from '../operator/personlink.tsx';
import { When } from '../parts/figures.tsx';
import { Listing, usePages } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import { ProfileDetails } from './profiledetails.tsx';

export function Profiles() {
  const queries = useQueryClient();
  const [q, setQ] = useState('');
  const [opened, setOpened] = useState<AdminProfile>();
  const pages = usePages<ProfilePage>('profiles', '/api/memory/profiles', { q });
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
      <Listing
        pages={pages}
        label="Profiles"
        itemsOf={({ profiles }) => profiles}
        keyOf={(profile) => `${profile.entity_type} ${profile.entity_id}`}
        empty={<Empty title="No profiles." />}
      >
        {(profile) => (
          <button type="button" className="entry" onClick={() => setOpened(profile)}>
            <span>{profile.summary || 'No summary'}</span>
            <span className="quiet">
              <EntityName type={profile.entity_type} id={profile.entity_id} /> · {factsOf(profile)} ·{' '}
              <When at={profile.updated_at} />
            </span>
          </button>
        )}
      </Listing>
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

function factsOf({ facts }: AdminProfile): string {
  const count = Object.keys(facts).length;
  return count === 1 ? '1 fact' : `${count} facts`;
}
