import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { AdminMemory, Revision } from '#memory/admin/api.ts';
import { EntityName, memoriesHref, untitled, useThreadTitle } from '../operator/names.tsx';
import { Changes, useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Choice, TextArea } from '../parts/fields.tsx';
import { momentOf, When } from '../parts/figures.tsx';
import { keyOf, useRead } from '../parts/server.ts';
import { Loading, Pending, Problem } from '../parts/states.tsx';
import { backOffice, kinds, profileHref } from './backoffice.ts';

const useMemory = (id: string) => useRead<AdminMemory>(`/api/memory/memories/${encodeURIComponent(id)}`);

interface MemoryDetailsProps {
  readonly id: string;
  readonly onOpen: (id: string) => void;
  readonly onClose: () => void;
  /** Reads the list again. */
  readonly onChange: () => Promise<unknown>;
}

export function MemoryDetails({ id, onOpen, onClose, onChange }: MemoryDetailsProps) {
  const path = `/memories/${encodeURIComponent(id)}`;
  const queries = useQueryClient();
  const mayChange = useMayChange();
  const memory = useMemory(id);
  const history = useRead<{ readonly history: readonly Revision[] }>(`/api/memory${path}/history`);
  const changed = () => Promise.all([queries.invalidateQueries({ queryKey: keyOf(`/api/memory${path}`) }), onChange()]);
  const undo = useMutation({ mutationFn: () => backOffice(`${path}/undo`, 'POST'), onSuccess: changed });
  /** Deletes this memory, or one that it is in conflict with. */
  const remove = useMutation({
    mutationFn: (of: string) => backOffice(`/memories/${encodeURIComponent(of)}`, 'DELETE'),
    onSuccess: async (_gone, of) => {
      await (of === id ? onChange() : changed());
      if (of === id) onClose();
    },
  });
  const removeThis = () => remove.mutateAsync(id);
  const problem = undo.error ?? remove.error;
  const owner = { type: memory.data?.entity_type ?? '', id: memory.data?.entity_id ?? '' };
  const canUndo = history.data?.history.some(({ undone }) => !undone) ?? false;
  return (
    <Dialog title="Memory" onClose={onClose} isWide>
      {memory.data === undefined ? (
        <Pending error={memory.error} retry={memory.refetch} />
      ) : (
        <>
          <p className="quiet">
            <EntityName type={memory.data.entity_type} id={memory.data.entity_id} isLink />, changed{' '}
            <When at={memory.data.updated_at} /> · <Link href={memoriesHref(owner)}>All memories</Link> ·{' '}
            <Link href={profileHref(owner.type, owner.id)}>Profile</Link>
          </p>
          <p>
            <Source of={memory.data} />
          </p>
          {memory.data.invalid_at !== null && (
            <p className="problem">
              Replaced <When at={memory.data.invalid_at} />
            </p>
          )}
          {memory.data.replaced_by !== null && (
            <ul className="lines">
              <Linked link={{ id: memory.data.replaced_by, kind: 'replaced by' }} onOpen={onOpen} />
            </ul>
          )}
          {mayChange ? (
            <Edit key={memory.data.updated_at} memory={memory.data} path={path} onSaved={changed} />
          ) : (
            <p>{memory.data.content}</p>
          )}
          {memory.data.links.length > 0 && (
            <>
              <h3>Linked</h3>
              <ul className="lines">
                {memory.data.links.toSorted(conflictsFirst).map((link) => (
                  <Linked key={link.id} link={link} onOpen={onOpen}>
                    {mayChange && isConflict(link) && (
                      <Confirm
                        label="Keep the opened one"
                        question="Delete this other memory and its history?"
                        onConfirm={() => remove.mutateAsync(link.id)}
                      />
                    )}
                  </Linked>
                ))}
              </ul>
            </>
          )}
          <h3>History</h3>
          <History revisions={history.data?.history} />
          <Changes>
            <div className="row">
              {canUndo && (
                <button type="button" disabled={undo.isPending} onClick={() => undo.mutate()}>
                  Undo the newest change
                </button>
              )}
              <Confirm label="Delete" question="Delete this memory and its history?" onConfirm={removeThis} />
            </div>
          </Changes>
          <Problem of={problem} />
        </>
      )}
    </Dialog>
  );
}

const sources = {
  user: 'Added by the user',
  server: 'Added by an app',
  operator: 'Added by an operator',
  model: 'Learned from a conversation',
  thread: 'Stated in a conversation',
  unknown: 'Source not known',
};

/** Where a fact comes from, with the runs of its conversation. */
export function Source({ of: { added_by: by, thread_id: id, created_at } }: { readonly of: AdminMemory }) {
  const title = useThreadTitle(id);
  const words = sources[id === null || by === 'model' ? (by ?? 'unknown') : 'thread'];
  if (id === null) return words;
  return (
    <Link href={`/operator/runs?threadId=${encodeURIComponent(id)}`}>
      {words} {title === untitled ? `on ${momentOf(created_at)}` : `“${title}”`}
    </Link>
  );
}

type EditProps = { readonly memory: AdminMemory; readonly path: string; readonly onSaved: () => Promise<unknown> };

function Edit({ memory, path, onSaved }: EditProps) {
  const [content, setContent] = useState(memory.content);
  const [type, setType] = useState<string>(memory.type);
  const save = useMutation({ mutationFn: () => backOffice(path, 'PUT', { content, type }), onSuccess: onSaved });
  const isSame = content === memory.content && type === memory.type;
  return (
    <form className="stack" action={() => save.mutate()}>
      <TextArea label="Content" rows={3} value={content} onChange={setContent} required />
      <Choice label="Kind" choices={kinds} value={type} onChange={setType} />
      <Problem of={save.error} />
      <div>
        <button type="submit" className="primary" disabled={isSame || save.isPending}>
          Save
        </button>
      </div>
    </form>
  );
}

type LinkedMemory = { readonly id: string; readonly kind: string };
const isConflict = ({ kind }: LinkedMemory) => kind === 'conflict';
const conflictsFirst = (one: LinkedMemory, two: LinkedMemory) => Number(isConflict(two)) - Number(isConflict(one));

interface LinkedProps {
  readonly link: LinkedMemory;
  readonly onOpen: (id: string) => void;
  readonly children?: ReactNode;
}

function Linked({ link, onOpen, children }: LinkedProps) {
  const { data } = useMemory(link.id);
  return (
    <li>
      <button type="button" className="entry" onClick={() => onOpen(link.id)}>
        <span>{data?.content ?? link.id}</span>
        <span className={isConflict(link) ? 'problem' : 'quiet'}>{link.kind}</span>
      </button>
      {children}
    </li>
  );
}

function History({ revisions }: { readonly revisions: readonly Revision[] | undefined }) {
  if (revisions === undefined) return <Loading />;
  if (revisions.length === 0) return <p className="quiet">This memory has never been changed.</p>;
  return (
    <ol className="lines">
      {revisions.map(({ number, action, actor, before, after, reason, undone, created_at }) => (
        <li key={number}>
          <p className="quiet">
            {action} by {actor}, <When at={created_at} />
            {undone && ' · undone'}
          </p>
          {before.content === after.content ? (
            <p>{before.content}</p>
          ) : (
            <p>
              <del>{before.content}</del> <ins>{after.content}</ins>
            </p>
          )}
          {reason !== null && <p>Reason: {reason}</p>}
        </li>
      ))}
    </ol>
  );
}
