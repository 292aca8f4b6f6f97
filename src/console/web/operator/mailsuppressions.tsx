import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SuppressionPage } from '../../../client/notify/api.ts';
import { send } from '../calls.ts';
import { useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { When } from '../parts/figures.tsx';
import { Listing, usePages } from '../parts/listing.tsx';
import { Empty, Problem } from '../parts/states.tsx';
import { notify } from '../shell/notices.ts';

type Suppression = SuppressionPage['suppressions'][number];

export function Suppressions() {
  const pages = usePages<SuppressionPage>('suppressions', '/api/notify/suppressions');
  return (
    <>
      <p className="quiet">Suppressed addresses receive no email.</p>
      <Listing
        pages={pages}
        label="Suppressed addresses"
        itemsOf={({ suppressions }) => suppressions}
        keyOf={({ address }) => address}
        empty={
          <Empty title="No address is suppressed.">
            <p>An address is suppressed when its mailbox is missing, or when its owner reports an email as spam.</p>
          </Empty>
        }
      >
        {(suppression) => <Row suppression={suppression} />}
      </Listing>
    </>
  );
}

function Row({ suppression: { address, reason, since } }: { readonly suppression: Suppression }) {
  const queries = useQueryClient();
  const mayChange = useMayChange();
  const lifting = useMutation({
    mutationFn: async () => {
      await send(`/api/notify/suppressions/${encodeURIComponent(address)}`, { method: 'DELETE' });
      notify(`Email is sent to ${address} again.`);
      await queries.invalidateQueries({ queryKey: ['suppressions'] });
    },
  });
  return (
    <>
      <div className="row">
        <div>
          <p className="strong">{address}</p>
          <p className="quiet">
            {reason} · since <When at={since} />
          </p>
        </div>
        {mayChange && (
          <Confirm
            label="Lift"
            question={`Send email to ${address} again?`}
            onConfirm={() => lifting.mutateAsync().catch(() => undefined)}
          />
        )}
      </div>
      <Problem of={lifting.error} />
    </>
  );
}
