import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { MemoryPage } from '#memory/admin/api.ts';
import { EntityName } from '../operator/personlink.tsx';
import { When } from '../parts/figures.tsx';
import { Listing, usePages } from '../parts/listing.tsx';
import { Empty } from '../parts/states.tsx';
import { memoryTypes } from './backoffice.ts';
import { Creation } from './creation.tsx';
import { Entity } from './entity.tsx';
import { MemoryDetails } from './memorydetails.tsx';

const noFilter = { q: '', entity_type: '', entity_id: '', type: '', include_invalid: '' };

export function Memories() {
  const queries = useQueryClient();
  const [filter, setFilter] = useState(noFilter);
  const [opened, setOpened] = useState<string>();
  const [isCreating, setCreating] = useState(false);
  const isFiltered = Object.values(filter).some((value) => value !== '');
  const pages = usePages<MemoryPage>('memories', '/api/memory/memories', filter);
  const reread = () => queries.invalidateQueries({ queryKey: ['memories'] });
  const set = (name: keyof typeof noFilter) => (event: { readonly target: { readonly value: string } }) =>
    setFilter({ ...filter, [name]: event.target.value });
  return (
    <>
      <search className="filters">
        <label className="field">
          Search
          <input type="search" value={filter.q} onChange={set('q')} placeholder="A part of the content" />
        </label>
        <label className="field">
          Entity id
          <input value={filter.entity_id} onChange={set('entity_id')} />
        </label>
        <label className="field">
          Entity type
          <select value={filter.entity_type} onChange={set('entity_type')}>
            <option value="">any</option>
            <option>user</option>
            <option>group</option>
          </select>
        </label>
        <label className="field">
          Memory type
          <select value={filter.type} onChange={set('type')}>
            <option value="">any</option>
            {memoryTypes.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        </label>
        <label className="field inline">
          <input
            type="checkbox"
            checked={filter.include_invalid !== ''}
            onChange={({ target }) => setFilter({ ...filter, include_invalid: target.checked ? 'true' : '' })}
          />
          Show replaced memories
        </label>
        <button type="button" className="primary" onClick={() => setCreating(true)}>
          New memory
        </button>
      </search>
      {filter.entity_id !== '' && (
        <Entity type={filter.entity_type || 'user'} id={filter.entity_id} onErased={reread} />
      )}
      <Listing
        pages={pages}
        label="Memories"
        itemsOf={({ memories }) => memories}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No memories.">
            <p>{isFiltered ? 'No memory matches these filters.' : 'In the studio, say “remember that …”.'}</p>
          </Empty>
        }
      >
        {(memory) => (
          <button type="button" className="entry" onClick={() => setOpened(memory.id)}>
            <span>{memory.content}</span>
            <span className="quiet">
              {memory.type} · <EntityName type={memory.entity_type} id={memory.entity_id} /> ·{' '}
              <When at={memory.updated_at} />
              {memory.links.some(({ kind }) => kind === 'conflict') && <span className="problem"> · in conflict</span>}
              {memory.invalid_at !== null && <span className="problem"> · replaced</span>}
            </span>
          </button>
        )}
      </Listing>
      {opened && (
        <MemoryDetails
          key={opened}
          id={opened}
          onOpen={setOpened}
          onClose={() => setOpened(undefined)}
          onChange={reread}
        />
      )}
      {isCreating && <Creation entityId={filter.entity_id} onClose={() => setCreating(false)} onChange={reread} />}
    </>
  );
}
