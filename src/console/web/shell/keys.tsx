import { labelsOf } from './actions.ts';

export function Keys({ keys }: { readonly keys: string }) {
  return (
    <span className="keys">
      {labelsOf(keys).map((label) => (
        <kbd key={label}>{label}</kbd>
      ))}
    </span>
  );
}
