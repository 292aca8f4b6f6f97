import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Check } from '../parts/fields.tsx';
import { Pairs } from '../parts/tables.tsx';
import { hasSingleKeys, setSingleKeys, useAllActions } from './actions.ts';
import { Keys } from './keys.tsx';

/** Of fields, the library and the lightbox, which handle these keys themselves. */
const more = [
  ['Send the message', 'enter'],
  ['Start a new line in the message', 'shift+enter'],
  ['Select a range in the library', 'shift+click'],
  ['Delete the focused image of the library', 'delete'],
  ['Previous image in the lightbox', 'left'],
  ['Next image in the lightbox', 'right'],
  ['Details in the lightbox', 'i'],
  ['Favorite in the lightbox', 'f'],
  ['Close a dialog or the lightbox', 'escape'],
] as const;

export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const actions = useAllActions();
  const [isOn, setOn] = useState(hasSingleKeys);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Pairs
        of={Object.fromEntries([
          ...actions.flatMap(({ title, keys }) =>
            keys === undefined ? [] : [[title, <Keys key={title} keys={keys} />]],
          ),
          ...more.map(([title, keys]) => [title, <Keys key={title} keys={keys} />]),
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
