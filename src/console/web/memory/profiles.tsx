import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { When } from '../parts/figures.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { backOffice, entityPath, type Profile } from './backoffice.ts';

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
        listing.error ? (
          <Failure error={listing.error} retry={listing.refetch} />
        ) : (
          <Loading what="Reading profiles" />
        )
      ) : profiles.length === 0 ? (
        <Empty title="No profiles." />
      ) : (
        <ul className="lines">
          {profiles.map((profile) => (
            <li key={`${profile.entity_type} ${profile.entity_id}`}>
              <button type="button" className="entry" onClick={() => setOpened(profile)}>
                <span>{profile.summary || 'No summary'}</span>
                <span className="quiet">
                  {profile.entity_type} {profile.entity_id} · {Object.keys(profile.facts).length} facts ·{' '}
                  <When at={profile.updated_at} />
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

const toLines = (facts: Profile['facts']) =>
  Object.entries(facts)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

const fromLines = (text: string) =>
  Object.fromEntries(
    text
      .split('\n')
      .map((line) => /^\s*([^:]+?)\s*:\s*(.*?)\s*$/.exec(line))
      .flatMap((match) => (match ? [[match[1] ?? '', match[2] ?? '']] : [])),
  );

function ProfileDetails({
  profile,
  onClose,
  onChange,
}: {
  readonly profile: Profile;
  readonly onClose: () => void;
  readonly onChange: () => Promise<unknown>;
}) {
  const path = `/profiles/${entityPath(profile.entity_type, profile.entity_id)}`;
  const [summary, setSummary] = useState(profile.summary ?? '');
  const [facts, setFacts] = useState(toLines(profile.facts));
  const [language, setLanguage] = useState(profile.language ?? '');
  const done = async () => {
    await onChange();
    onClose();
  };
  const save = useMutation({
    mutationFn: () =>
      backOffice(path, 'PUT', { summary, facts: fromLines(facts), ...(language === '' ? {} : { language }) }),
    onSuccess: done,
  });
  const remove = useMutation({ mutationFn: () => backOffice(path, 'DELETE'), onSuccess: done });
  const problem = save.error ?? remove.error;
  return (
    <Dialog title={`Profile of ${profile.entity_type} ${profile.entity_id}`} onClose={onClose} isWide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <label className="field">
          Summary
          <textarea rows={2} value={summary} maxLength={1000} onChange={(event) => setSummary(event.target.value)} />
        </label>
        <label className="field">
          Facts, one a line, as “name: value”
          <textarea rows={6} value={facts} onChange={(event) => setFacts(event.target.value)} />
        </label>
        <label className="field">
          Language
          <input value={language} onChange={(event) => setLanguage(event.target.value)} />
        </label>
        <p className="quiet">
          Facts that are saved here are locked: nothing that is learnt later changes them.
          {profile.locked.length > 0 && ` Locked now: ${profile.locked.join(', ')}.`}
        </p>
        {problem && (
          <p className="problem" role="alert">
            {problem.message}
          </p>
        )}
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
      </form>
    </Dialog>
  );
}
