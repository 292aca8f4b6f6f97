import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Tabs } from 'radix-ui';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { AdminProfile, ProfilePage } from '#memory/admin/api.ts';
import { EntityName } from '../operator/names.tsx';
import { Changes, useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextArea, TextField } from '../parts/fields.tsx';
import { When } from '../parts/figures.tsx';
import { Listing, SearchField, usePages } from '../parts/listing.tsx';
import { Empty, PageHead, Problem } from '../parts/states.tsx';
import { backOffice, entityPath } from './backoffice.ts';
import { Memories } from './memories.tsx';

export function Memory() {
  const [search, setSearch] = useSearchParams();
  return (
    <>
      <PageHead title="Memory">
        Facts about users and groups: where each comes from, and every change of it, which you can undo.
      </PageHead>
      <Tabs.Root value={search.get('tab') ?? 'memories'} onValueChange={(tab) => setSearch({ tab }, { replace: true })}>
        <Tabs.List className="tabs" aria-label="Views">
          <Tabs.Trigger value="memories">Memories</Tabs.Trigger>
          <Tabs.Trigger value="profiles">Profiles</Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="memories">
          <Memories />
        </Tabs.Content>
        <Tabs.Content value="profiles">
          <Profiles />
        </Tabs.Content>
      </Tabs.Root>
    </>
  );
}

function Profiles() {
  const queries = useQueryClient();
  const [q, setQ] = useState('');
  const [opened, setOpened] = useState<AdminProfile>();
  const pages = usePages<ProfilePage>('profiles', '/api/memory/profiles', { q });
  return (
    <>
      <search className="filters">
        <SearchField label="Search" value={q} onChange={setQ} placeholder="Id, summary or fact" />
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
            <span className="quiet facts">
              <span>
                <EntityName type={profile.entity_type} id={profile.entity_id} />
              </span>
              <span>{factsOf(profile)}</span>
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
  const count = Object.values(facts).flatMap((value) => value.split('\n')).length;
  return count === 1 ? '1 fact' : `${count} facts`;
}

interface ProfileDetailsProps {
  readonly profile: AdminProfile;
  readonly onClose: () => void;
  readonly onChange: () => Promise<unknown>;
}

function ProfileDetails({ profile, onClose, onChange }: ProfileDetailsProps) {
  const path = `/profiles/${entityPath(profile.entity_type, profile.entity_id)}`;
  const mayChange = useMayChange();
  const [summary, setSummary] = useState(profile.summary ?? '');
  const [facts, setFacts] = useState(profile.facts);
  const [added, setAdded] = useState({ name: '', value: '' });
  const [language, setLanguage] = useState(profile.language ?? '');
  const done = async () => {
    await onChange();
    onClose();
  };
  const save = useMutation({
    mutationFn: () => {
      const written = { ...writtenFacts(profile, facts), ...(added.name && { [added.name]: added.value }) };
      const isSame = language === (profile.language ?? '');
      return backOffice(path, 'PUT', {
        summary: summary || null,
        facts: written,
        ...(isSame ? {} : { language: language || null }),
      });
    },
    onSuccess: done,
  });
  const remove = useMutation({ mutationFn: () => backOffice(path, 'DELETE'), onSuccess: done });
  const problem = save.error ?? remove.error;
  return (
    <Dialog title="Profile" onClose={onClose} isWide>
      <p className="quiet">
        <EntityName type={profile.entity_type} id={profile.entity_id} isLink />
      </p>
      <form className="stack" action={() => save.mutate()}>
        <TextArea
          label="Summary"
          rows={2}
          value={summary}
          maxLength={1000}
          readOnly={!mayChange}
          onChange={setSummary}
        />
        <TextField label="Language" value={language} maxLength={35} readOnly={!mayChange} onChange={setLanguage} />
        <h3>Facts</h3>
        {mayChange && (
          <p className="quiet">
            A fact that you change here is locked. Later conversations do not change it. Clear it to unlock it.
          </p>
        )}
        {Object.entries(facts).map(([name, value]) => (
          <TextArea
            key={name}
            label={`${name} ${profile.locked.includes(name) ? '(locked)' : '(from memories)'}`}
            className="grows"
            rows={value.includes('\n') ? 4 : 1}
            value={value}
            maxLength={2000}
            readOnly={!mayChange}
            onChange={(changed) => setFacts({ ...facts, [name]: changed })}
          />
        ))}
        {mayChange && (
          <div className="adding">
            <TextField
              label="New fact"
              value={added.name}
              maxLength={64}
              placeholder="Name"
              onChange={(name) => setAdded({ ...added, name })}
            />
            <TextField
              label="Its value"
              value={added.value}
              maxLength={2000}
              onChange={(value) => setAdded({ ...added, value })}
            />
          </div>
        )}
        <Problem of={problem} />
        <Changes>
          <div className="row">
            <button type="submit" className="primary" disabled={save.isPending}>
              Save
            </button>
            <Confirm
              label="Delete"
              question="Delete this profile?"
              onConfirm={() => remove.mutateAsync().catch(() => undefined)}
            />
          </div>
        </Changes>
      </form>
    </Dialog>
  );
}

/** Facts that operators have written, now or before. The service derives the others. */
function writtenFacts({ facts: before, locked }: AdminProfile, facts: AdminProfile['facts']): AdminProfile['facts'] {
  return Object.fromEntries(
    Object.entries(facts).filter(([name, value]) => value !== '' && (locked.includes(name) || value !== before[name])),
  );
}
