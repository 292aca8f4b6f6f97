import { useMutation } from '@tanstack/react-query';
import { Confirm } from '../parts/confirm.tsx';
import { saveJson } from '../shell/saving.ts';
import { backOffice, entityPath } from './backoffice.ts';

/** Everything that is stored about one entity, for export or erasure. */
export function Entity({
  type,
  id,
  onErased,
}: {
  readonly type: string;
  readonly id: string;
  readonly onErased: () => Promise<unknown>;
}) {
  const path = `/entities/${entityPath(type, id)}`;
  const download = useMutation({
    mutationFn: async () =>
      saveJson(`memory-${type}-${id.replace(/[^\w-]/g, '_')}.json`, await backOffice<unknown>(`${path}/export`)),
  });
  const erase = useMutation({ mutationFn: () => backOffice(path, 'DELETE'), onSuccess: onErased });
  const problem = download.error ?? erase.error;
  return (
    <section className="card row entity" aria-label="Entity">
      <p>
        {type} <code>{id}</code>
      </p>
      <div className="row">
        <button type="button" disabled={download.isPending} onClick={() => download.mutate()}>
          Export
        </button>
        <Confirm
          label="Erase everything"
          question={`Erase all data about ${id}?`}
          onConfirm={() => erase.mutateAsync().catch(() => undefined)}
        />
      </div>
      <p role="status" className={problem ? 'problem' : 'quiet'}>
        {problem?.message ?? (erase.isSuccess ? 'Erased.' : '')}
      </p>
    </section>
  );
}
