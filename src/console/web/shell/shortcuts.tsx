import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Check } from '../parts/fields.tsx';
import { Pairs } from '../parts/tables.tsx';
import { hasSingleKeys, setSingleKeys, useAllActions } from './actions.ts';
import { Keys } from './keys.tsx';
import more from './shortcuts.json' with { type: 'json' };

export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const actions = useAllActions();
  const [isOn, setOn] = useState(hasSingleKeys);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Pairs
        of={Object.fromEntries([
          ...actions.flatMap(({ title, keys }) =>
            keys === undefined
              ? []
              : [[keys.startsWith('g ') ? `Go to ${title}` : title, <Keys key={title} keys={keys} />]],
          ),
          // Fields, the library and the lightbox handle these keys themselves.
          ...Object.entries(location.pathname.startsWith('/operator') ? more.operators : more.users).map(
            ([title, keys]) => [title, <Keys key={title} keys={keys} />],
          ),
        ])}
      />
      <Check
        label="Use shortcuts without ⌘ or Ctrl"
        value={isOn}
        onChange={(next) => {
          setSingleKeys(next);
          setOn(next);
        }}
      />
    </Dialog>
  );
}
