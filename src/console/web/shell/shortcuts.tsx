import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { hasSingleKeys, setSingleKeys, useAllActions } from './actions.ts';
import { Keys } from './keys.tsx';

export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const actions = useAllActions();
  const [isOn, setOn] = useState(hasSingleKeys);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="pairs">
        {actions.map(
          ({ id, title, keys }) =>
            keys !== undefined && (
              <div key={id}>
                <dt>{title}</dt>
                <dd>
                  <Keys keys={keys} />
                </dd>
              </div>
            ),
        )}
      </dl>
      <label className="check">
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ target }) => {
            setSingleKeys(target.checked);
            setOn(target.checked);
          }}
        />
        Use shortcuts without ⌘ or Ctrl
      </label>
    </Dialog>
  );
}
