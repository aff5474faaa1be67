import type { ComponentProps } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { usePage } from './context.ts';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'icon' | 'name'> {
  readonly icon?: IconName | undefined;
  /** Classes. @default 'plain small' */
  readonly look?: string;
  /** Accessible name of a button that shows only an icon, and its tooltip unless `title` is set. */
  readonly name?: string;
}

/** A button of the page. */
export const Button = ({ icon, look = 'plain small', name, children, ...others }: ButtonProps) => (
  <button type="button" class={`button ${look}${children ? '' : ' square'}`} aria-label={name} title={name} {...others}>
    {icon && <Icon name={icon} />}
    {children}
  </button>
);

/** The size of a file, shown after the label of a button. */
export const ButtonSize = ({ size }: { readonly size: string | undefined }) =>
  size ? (
    <span class="size">
      {' · '}
      <bdi>{size}</bdi>
    </span>
  ) : null;

interface CopyButtonProps {
  readonly text: string;
  /** Visible label; without it only the icon, named by `name`. */
  readonly label?: string;
  readonly name?: string;
}

/** Copies a text and announces it. Without clipboard access (plain http), shows the text for manual copying. */
export const CopyButton = ({ text, label, name }: CopyButtonProps) => {
  const { t, announcement } = usePage();
  const [result, setResult] = useState<'copied' | 'refused'>();
  useEffect(() => setResult(undefined), [text]);
  useEffect(() => {
    if (result !== 'copied') return;
    const timer = setTimeout(() => setResult(undefined), 2500);
    return () => clearTimeout(timer);
  }, [result]);

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setResult('copied');
      announcement.set(t('say.copied'));
    } catch {
      setResult('refused');
    }
  };
  const isCopied = result === 'copied';
  return (
    <>
      <Button icon={isCopied ? 'check' : 'copy'} name={name} onClick={copy}>
        {label && (isCopied ? t('action.copied') : label)}
      </Button>
      {result === 'refused' && label && (
        <label class="manual-copy">
          {t('action.notCopied')}
          <input readOnly dir="ltr" value={text} ref={(field) => field?.select()} />
        </label>
      )}
    </>
  );
};

interface SelectProps<T extends string> {
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

/** Stroked paths on a 20-unit grid. Decorative: the control has a label or an accessible name. */
const PATHS = {
  all: 'm5 8 5 5 5-5',
  alert: 'M10 6v5m0 3v.01M10 2.5l8 14.5H2Z',
  bookmark: 'M5 3h10v14l-5-4-5 4Z',
  cast: 'M3 8V4h14v12h-6M3 16v.01M3 12a4 4 0 0 1 4 4',
  check: 'm4 10.5 4 4 8-9',
  close: 'm5 5 10 10M15 5 5 15',
  clock: 'M10 5.5V10l3 2m4.5-2a7.5 7.5 0 1 1-15 0 7.5 7.5 0 0 1 15 0Z',
  copy: 'M7 7V3h10v10h-4M3 7h10v10H3Z',
  cover: 'M3 4h14v12H3Zm0 9 4-4 5 5m-1-2 2-2 4 4',
  cut: 'm7 7 9 9M7 13l9-9M7.5 5.5a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0Zm0 9a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0Z',
  download: 'M10 3v10m-4.5-4L10 13.5 14.5 9M3 17h14',
  go: 'M4 10h12m-5-5 5 5-5 5',
  less: 'm5 12 5-5 5 5',
  link: 'M8.5 11.5a3.5 3.5 0 0 0 5 0l3-3a3.5 3.5 0 0 0-5-5l-1 1m1 4a3.5 3.5 0 0 0-5 0l-3 3a3.5 3.5 0 0 0 5 5l1-1',
  lock: 'M5 9h10v8H5Zm2 0V6a3 3 0 0 1 6 0v3',
  more: 'M4 10v.01M10 10v.01M16 10v.01',
  offline:
    'm3 3 14 14M2 8a12 12 0 0 1 4-2.6M18 8a12 12 0 0 0-7.5-3M5 11.5A8 8 0 0 1 8 9.7m7 1.8a8 8 0 0 0-1.6-1.2M10 16v.01',
  paste: 'M7 4H4v13h12V4h-3M7 2.5h6v3H7Z',
  pause: 'M7 4v12m6-12v12',
  play: 'M6 3.5v13L16.5 10Z',
  retry: 'M16.5 10a6.5 6.5 0 1 1-2-4.7M16.5 2v4h-4',
  share: 'M10 12V2.5M6.5 6 10 2.5 13.5 6M5 9.5H3.5v8h13v-8H15',
  search: 'm17 17-4-4m1.5-4.5a6 6 0 1 1-12 0 6 6 0 0 1 12 0Z',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon in the size of the text. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class={name === 'play' ? 'icon solid' : 'icon'} viewBox="0 0 20 20" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
