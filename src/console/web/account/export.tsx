import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import type { OwnAccount } from '../../../client/auth/api.ts';
import { Loading, Problem } from '../parts/states.tsx';
import { saveFile } from '../shell/saving.ts';
import { useUser } from '../user.tsx';
import { useAccountChange } from './queries.ts';

export function Export({ state }: { readonly state: OwnAccount['export'] }) {
  const user = useUser();
  const order = useAccountChange('GET', '/account/export');
  const download = useMutation({
    mutationFn: async () => {
      const answer = await user.send('auth', '/account/export/zip');
      saveFile('export.zip', await answer.blob());
    },
  });
  return (
    <section aria-labelledby="account-export">
      <h2 id="account-export">Export your data</h2>
      <p className="quiet">
        A ZIP file with your conversations, media, memories and settings. We send you an email when it is ready.
      </p>
      {state?.status === 'preparing' && <Loading what="Preparing your export" />}
      {state?.status === 'ready' && state.expiresAt !== null && (
        <p>Ready until {new Date(state.expiresAt).toLocaleDateString(undefined, { dateStyle: 'long' })}.</p>
      )}
      <div className="does">
        {state?.status === 'ready' && (
          <button type="button" className="primary" disabled={download.isPending} onClick={() => download.mutate()}>
            <Download size={16} strokeWidth={1.75} aria-hidden="true" />
            {download.isPending ? 'Downloading …' : 'Download'}
          </button>
        )}
        {state === null && (
          <button type="button" disabled={order.isPending} onClick={() => order.mutate()}>
            Request an export
          </button>
        )}
        <Problem of={order.error ?? download.error} />
      </div>
    </section>
  );
}
