/** The command palette and the overview of shortcuts, over any page. */
import { Command, Keyboard } from 'lucide-react';
import { lazy, Suspense, useEffect, useId, useMemo, useRef, useState } from 'react';
import { type Action, performShortcut, searched, useActions, useAllActions } from './actions.ts';
import { setTheme, themes } from './browser.ts';
import { Keys } from './keys.tsx';
import { useModal } from './modal.ts';
import { createShared } from './shared.ts';

const Shortcuts = lazy(async () => ({ default: (await import('./shortcuts.tsx')).Shortcuts }));

const opened = createShared<'palette' | 'shortcuts' | undefined>(undefined);
export const openPalette = (): void => opened.write('palette');
export const openShortcuts = (): void => opened.write('shortcuts');
function close(): void {
  opened.write(undefined);
  searched.write('');
}

const general: readonly Action[] = [
  {
    id: 'palette',
    title: 'Search commands',
    group: 'Help',
    Icon: Command,
    keys: 'mod+k',
    isHidden: true,
    perform: openPalette,
  },
  { id: 'shortcuts', title: 'Keyboard shortcuts', group: 'Help', Icon: Keyboard, keys: '?', perform: openShortcuts },
  ...themes.map(({ value, command: title, Icon }) => ({
    id: value,
    title,
    group: 'Theme',
    Icon,
    perform: () => setTheme(value),
  })),
];

export function Overlays() {
  const shown = opened.use();
  useActions(general);
  useEffect(() => {
    window.addEventListener('keydown', performShortcut);
    return () => window.removeEventListener('keydown', performShortcut);
  }, []);
  return (
    <Suspense>
      {shown === 'palette' && <Palette onClose={close} />}
      {shown === 'shortcuts' && <Shortcuts onClose={close} />}
    </Suspense>
  );
}

const most = 50;

/** Finds and performs any action of the page. */
function Palette({ onClose }: { readonly onClose: () => void }) {
  const dialog = useModal();
  const actions = useAllActions();
  const text = searched.use();
  const [place, setPlace] = useState(0);
  const chosen = useRef<Action>(undefined);
  const id = useId();
  const found = useMemo(() => filter(actions, text), [actions, text]);
  const current = found[Math.min(place, found.length - 1)];
  const optionId = (action: Action) => `${id}-${found.indexOf(action)}`;

  function choose(action: Action | undefined) {
    if (action === undefined) return;
    chosen.current = action;
    dialog.current?.close();
  }

  function move(step: number) {
    if (found.length === 0) return;
    const next = (Math.min(place, found.length - 1) + step + found.length) % found.length;
    setPlace(next);
    const action = found[next];
    if (action) document.getElementById(optionId(action))?.scrollIntoView({ block: 'nearest' });
  }

  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Commands"
      onClose={() => {
        const words = text.trim();
        onClose();
        // After the dialog, so that the action may move the focus.
        if (chosen.current) queueMicrotask(() => chosen.current?.perform(words));
      }}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget) currentTarget.close();
      }}
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step === undefined && event.key !== 'Enter') return;
        event.preventDefault();
        if (step === undefined) choose(current);
        else move(step);
      }}
    >
      <input
        role="combobox"
        aria-label="Search commands"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={current && optionId(current)}
        autoComplete="off"
        maxLength={200}
        placeholder={placeholderOf(location.pathname)}
        value={text}
        onChange={(event) => {
          searched.write(event.target.value);
          setPlace(0);
        }}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Commands" className="choices">
        {[...Map.groupBy(found, ({ group }) => group)].map(([group, members]) => (
          <fieldset key={group} aria-label={group}>
            <p className="quiet small" aria-hidden="true">
              {group}
            </p>
            {members.map((action) => (
              <div
                key={action.id}
                id={optionId(action)}
                role="option"
                tabIndex={-1}
                aria-selected={action === current}
                onPointerMove={() => setPlace(found.indexOf(action))}
                onClick={() => choose(action)}
                onKeyDown={() => undefined}
              >
                {action.Icon && <action.Icon size={16} strokeWidth={1.75} aria-hidden="true" />}
                <span className="cut">
                  {action.title}
                  {action.takesText && ` “${text.trim()}”`}
                </span>
                {action.note !== undefined && <span className="quiet small">{action.note}</span>}
                {action.keys && <Keys keys={action.keys} />}
              </div>
            ))}
          </fieldset>
        ))}
      </div>
      {found.length === 0 && <p className="quiet none">No command matches “{text}”.</p>}
      <p className="unseen" role="status">
        {text === '' ? '' : `${found.filter(({ group }) => group !== 'Search').length} found`}
      </p>
    </dialog>
  );
}

const placeholderOf = (path: string) =>
  path.startsWith('/operator') ? 'Find pages, people, runs and settings' : 'Search commands and conversations';

/** Every word has to occur. Titles that begin with the text come first, and then pages and commands. Groups stay together. */
function filter(actions: readonly Action[], text: string): readonly Action[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = actions.filter(({ title, group, note = '', isHidden, isFound, takesText }) => {
    if (isHidden) return false;
    if (isFound || takesText) return words.length > 0;
    const all = `${title} ${group} ${note}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  const rankOf = ({ title, takesText, isFound }: Action) =>
    takesText ? 3 : title.toLowerCase().startsWith(text.toLowerCase().trim()) ? 0 : isFound ? 2 : 1;
  const shown = found.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, most);
  return [...Map.groupBy(shown, ({ group }) => group).values()].flat();
}
