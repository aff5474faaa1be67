export interface SelectProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly T[];
  readonly nameOf: (option: T) => string;
  /** The language of an option's text. */
  readonly languageOf?: (option: T) => string;
  readonly onChange: (option: T) => void;
}

/** A labelled select. */
export function Select<T extends string>({ label, value, options, nameOf, languageOf, onChange }: SelectProps<T>) {
  return (
    <label class="labelled-control">
      {label}
      <select
        class="select"
        value={value}
        onChange={({ currentTarget }) => onChange(options[currentTarget.selectedIndex] ?? value)}
      >
        {options.map((option) => (
          <option key={option} value={option} lang={languageOf?.(option)}>
            {nameOf(option)}
          </option>
        ))}
      </select>
    </label>
  );
}
