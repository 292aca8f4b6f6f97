interface ChoicesProps<Value extends string | number> {
  readonly label: string;
  readonly of: readonly (readonly [value: Value, text: string])[];
  readonly chosen: Value;
  readonly choose: (value: Value) => void;
}

/** Buttons of which one is chosen, such as the filters of a list. */
export function Choices<Value extends string | number>({ label, of, chosen, choose }: ChoicesProps<Value>) {
  return (
    <fieldset className="segments" aria-label={label}>
      {of.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => choose(value)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
