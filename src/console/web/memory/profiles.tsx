import { useState } from 'react';
import { Link } from 'wouter';
import type { AdminProfile, ProfilePage } from '#memory/admin/api.ts';
import { Entry } from '../operator/entry.tsx';
import { AllMemories, EntityName, useEntityName, useId } from '../operator/names.tsx';
import { Changes, useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextArea, TextField } from '../parts/fields.tsx';
import { plural, When } from '../parts/figures.tsx';
import { Listing, SearchFilter, useFilters, usePages } from '../parts/listing.tsx';
import { useDeed, useRead } from '../parts/server.ts';
import { Empty, Loaded, PageHead, Problem } from '../parts/states.tsx';
import { Views } from '../parts/views.tsx';
import { backOffice, entityPath } from './backoffice.ts';
import { Memories } from './memories.tsx';

export const Memory = () => (
  <>
    <PageHead title="Memory">
      Facts that the assistant stores about each user and group. A profile sums up the memories of one of them.
    </PageHead>
    <Views
      of={[
        ['memories', 'Memories', Memories],
        ['profiles', 'Profiles', Profiles],
      ]}
    />
  </>
);

function Profiles() {
  const { of, change } = useFilters();
  const q = useId(of('q')) ?? '';
  const [type, id] = of('profile').split(/ (.*)/s);
  const pages = usePages<ProfilePage>('/api/memory/profiles', { q });
  return (
    <>
      <search className="desk-fields desk-filters">
        <SearchFilter label="Search" maxLength={320} placeholder="Email address, id, summary or fact" />
      </search>
      <Listing
        pages={pages}
        label="Profiles"
        itemsOf={({ profiles }) => profiles}
        keyOf={(profile) => `${profile.entity_type} ${profile.entity_id}`}
        empty={
          <Empty title={q === '' ? 'No profiles.' : 'No profile matches.'}>
            <p>A user or group has a profile after the first memory about them.</p>
          </Empty>
        }
      >
        {(profile) => (
          <Entry
            title={<EntityName type={profile.entity_type} id={profile.entity_id} />}
            at={profile.updated_at}
            facts={[
              plural(countFacts(profile), 'fact'),
              <AllMemories key="all" type={profile.entity_type} id={profile.entity_id} />,
              profile.entity_type === 'user' && (
                <Link key="person" href={`/operator/people/${profile.entity_id}`}>
                  The person
                </Link>
              ),
            ]}
            onOpen={() => change({ profile: `${profile.entity_type} ${profile.entity_id}` }, false)}
          >
            {profile.summary && <p>{profile.summary}</p>}
          </Entry>
        )}
      </Listing>
      {id && <OpenedProfile type={type === 'group' ? type : 'user'} id={id} onClose={() => change({ profile: '' })} />}
    </>
  );
}

const countFacts = ({ facts }: AdminProfile) => Object.values(facts).flatMap((value) => value.split('\n')).length;

type OpenedProfileProps = { readonly type: string; readonly id: string; readonly onClose: () => void };

function OpenedProfile({ type, id, onClose }: OpenedProfileProps) {
  return (
    <Dialog title={`Profile of ${useEntityName({ type, id })}`} onClose={onClose} isWide>
      <Loaded of={useRead<AdminProfile>(`/api/memory/profiles/${entityPath(type, id)}`)} entry="profile">
        {(profile) => <ProfileDetails profile={profile} onClose={onClose} />}
      </Loaded>
    </Dialog>
  );
}

type ProfileDetailsProps = { readonly profile: AdminProfile; readonly onClose: () => void };

function ProfileDetails({ profile, onClose }: ProfileDetailsProps) {
  const path = `/profiles/${entityPath(profile.entity_type, profile.entity_id)}`;
  const mayChange = useMayChange();
  const [summary, setSummary] = useState(profile.summary ?? '');
  const [facts, setFacts] = useState(profile.facts);
  const [added, setAdded] = useState({ name: '', value: '' });
  const [language, setLanguage] = useState(profile.language ?? '');
  /** Default: deletes the profile. */
  const change = useDeed(
    async (written?: object) => {
      await backOffice(path, written ? 'PUT' : 'DELETE', written);
      // Nothing rereads a deleted profile once its dialog is closed.
      onClose();
    },
    ['memory', 'profiles'],
  );
  const save = () =>
    change.mutate({
      summary: summary || null,
      facts: { ...writtenFacts(profile, facts), ...(added.name && { [added.name]: added.value }) },
      ...(language !== (profile.language ?? '') && { language: language || null }),
    });
  return (
    <>
      <p className="quiet">
        <EntityName type={profile.entity_type} id={profile.entity_id} isLink />, changed{' '}
        <When at={profile.updated_at} />
      </p>
      <form className="stack" action={save}>
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
        <Problem of={change.error} />
        <Changes>
          <div className="row">
            <button type="submit" className="primary" disabled={change.isPending}>
              Save
            </button>
            <Confirm label="Delete" question="Delete this profile?" onConfirm={() => change.mutateAsync(undefined)} />
          </div>
        </Changes>
      </form>
    </>
  );
}

/** Facts that operators have written, now or before. The service derives the others. */
function writtenFacts({ facts: before, locked }: AdminProfile, facts: AdminProfile['facts']): AdminProfile['facts'] {
  return Object.fromEntries(
    Object.entries(facts).filter(([name, value]) => value !== '' && (locked.includes(name) || value !== before[name])),
  );
}
