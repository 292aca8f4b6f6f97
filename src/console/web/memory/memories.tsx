import { useState } from 'react';
import { Link } from 'wouter';
import type { MemoryPage } from '#memory/admin/api.ts';
import { Entry } from '../operator/entry.tsx';
import { AllMemories, EntityName, readId, useEntityName, useId } from '../operator/names.tsx';
import { useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Check, Choice, TextArea, TextField } from '../parts/fields.tsx';
import { ChoiceFilter, Filters, Listing, SearchFilter, useFilters, usePages } from '../parts/listing.tsx';
import { SaveForm } from '../parts/saveform.tsx';
import { useDeed } from '../parts/server.ts';
import { Empty } from '../parts/states.tsx';
import { saveJson } from '../shell/saving.ts';
import { backOffice, entityPath, kinds, memoriesKey, profileHref } from './backoffice.ts';
import { MemoryDetails, Source } from './memorydetails.tsx';

const filters = ['q', 'entity_type', 'entity_id', 'type', 'include_invalid'] as const;
const entityTypes = [
  ['user', 'Users'],
  ['group', 'Groups'],
] as const;

export function Memories() {
  const { of, change } = useFilters();
  const filter = Object.fromEntries(filters.map((name) => [name, of(name)])) as Record<
    (typeof filters)[number],
    string
  >;
  const mayChange = useMayChange();
  const opened = of('memory');
  const open = (memory: string) => change({ memory }, false);
  const close = () => change({ memory: '' });
  const entity = useId(filter.entity_id) ?? '';
  const name = useEntityName({ type: filter.entity_type || 'user', id: entity });
  const none = entity === '' ? 'No memories.' : `No memories of ${name}.`;
  const [isCreating, setCreating] = useState(false);
  const isFiltered = Object.values(filter).some((value) => value !== '');
  const pages = usePages<MemoryPage>('/api/memory/memories', { ...filter, entity_id: entity });
  return (
    <>
      <Filters>
        <SearchFilter label="Search" placeholder="A part of the content" />
        <SearchFilter name="entity_id" label="User or group" placeholder="Exact email address or id" maxLength={320} />
        <ChoiceFilter name="entity_type" label="Belongs to" choices={[['', 'All'], ...entityTypes]} />
        <ChoiceFilter name="type" label="Kind" choices={[['', 'All'], ...kinds]} />
        <Check
          label="Show replaced memories"
          className="field inline"
          value={filter.include_invalid !== ''}
          onChange={(isOn) => change({ include_invalid: isOn ? 'true' : '' })}
        />
      </Filters>
      {mayChange && (
        <button type="button" className="primary" onClick={() => setCreating(true)}>
          New memory
        </button>
      )}
      {entity !== '' && !entity.includes('@') && <Entity type={filter.entity_type || 'user'} id={entity} name={name} />}
      <Listing
        pages={pages}
        label="Memories"
        itemsOf={({ memories }) => memories}
        keyOf={({ id }) => id}
        empty={
          <Empty title={entity.includes('@') ? 'No user has this email address.' : none}>
            <p>{isFiltered ? 'No memory matches these filters.' : 'In the studio, say “remember that …”.'}</p>
          </Empty>
        }
      >
        {(memory) => (
          <Entry
            title={memory.content}
            at={memory.updated_at}
            facts={[
              <EntityName key="entity" type={memory.entity_type} id={memory.entity_id} isLink />,
              new Map<string, string>(kinds).get(memory.type),
              <Source key="source" of={memory} />,
              memory.links.some(({ kind }) => kind === 'conflict') && conflicting,
              memory.invalid_at !== null && replaced,
              filter.entity_id === '' && <AllMemories key="all" type={memory.entity_type} id={memory.entity_id} />,
            ]}
            onOpen={() => open(memory.id)}
          />
        )}
      </Listing>
      {opened && <MemoryDetails key={opened} id={opened} onOpen={open} onClose={close} />}
      {isCreating && <Creation entityId={filter.entity_id} onClose={() => setCreating(false)} />}
    </>
  );
}

const conflicting = <span className="problem">in conflict</span>;
const replaced = <span className="problem">replaced</span>;

function Creation({ entityId, onClose }: { readonly entityId: string; readonly onClose: () => void }) {
  const [draft, setDraft] = useState({ entity_type: 'user', entity_id: entityId, type: 'preference', content: '' });
  const create = useDeed(async () => {
    const entity_id = draft.entity_type === 'user' ? await readId(draft.entity_id.trim()) : draft.entity_id;
    if (entity_id.includes('@') && draft.entity_type === 'user') throw new Error('No user has this email address.');
    await backOffice('/memories', 'POST', { ...draft, entity_id });
  }, memoriesKey);
  const set = (name: keyof typeof draft) => (value: string) => setDraft({ ...draft, [name]: value });
  return (
    <SaveForm title="New memory" of={create} submit="Create" onClose={onClose}>
      <Choice label="Belongs to" choices={entityTypes} value={draft.entity_type} onChange={set('entity_type')} />
      <TextField
        label="Email address of the user, or id"
        value={draft.entity_id}
        onChange={set('entity_id')}
        maxLength={256}
        required
      />
      <Choice label="Kind" choices={kinds} value={draft.type} onChange={set('type')} />
      <TextArea label="Fact" rows={3} value={draft.content} onChange={set('content')} required />
      <p className="quiet">A fact that is already stored is merged.</p>
    </SaveForm>
  );
}

type EntityProps = { readonly type: string; readonly id: string; readonly name: string };

/** Everything that is stored about one entity, for export or erasure. */
function Entity({ type, id, name }: EntityProps) {
  const path = `/entities/${entityPath(type, id)}`;
  const mayChange = useMayChange();
  const download = useDeed(async () =>
    saveJson(`memory-${type}-${id.replace(/[^\w-]/g, '_')}.json`, await backOffice<unknown>(`${path}/export`)),
  );
  const erase = useDeed(() => backOffice(path, 'DELETE'), memoriesKey);
  const problem = download.error ?? erase.error;
  return (
    <section className="card row entity" aria-label="This user or group">
      <p>
        <EntityName type={type} id={id} isLink /> <code className="wrapped">{id}</code>
      </p>
      <div className="row">
        <Link href={profileHref(type, id)}>Profile</Link>
        <button type="button" disabled={download.isPending} onClick={() => download.mutate()}>
          Export
        </button>
        {mayChange && (
          <Confirm
            label="Erase everything"
            question={`Erase all data about ${name}?`}
            onConfirm={() => erase.mutateAsync()}
          />
        )}
      </div>
      <p role="status" className={problem ? 'problem' : 'quiet'}>
        {problem?.message ?? (erase.isSuccess ? 'Erased.' : '')}
      </p>
    </section>
  );
}
