import { useEffect, useRef, useState } from 'preact/hooks';
import { isTooLong, linkFromText, linksFromText, linksFromTransfer, type TextKey } from '../../lib/index.ts';
import { usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';

export interface LinkFieldProps {
  /** The link shown in the field. */
  readonly link: string | undefined;
  /** Input that is not a link, for editing. */
  readonly text: string | undefined;
  /** The link's result is shown: Enter downloads it. */
  readonly isResolved: boolean;
  readonly onLinks: (links: readonly string[]) => void;
  readonly onClear: () => void;
}

/** The input field for links; a pasted link is opened at once. */
export const LinkField = ({ link, text: given, isResolved, onLinks, onClear }: LinkFieldProps) => {
  const { texts, primaryAction } = usePage();
  const { t } = texts;
  const [text, setText] = useState(link ?? given ?? textOfShell);
  const isFirst = useRef(true);
  const [fault, setFault] = useState(given ? linkErrorOf(given) : undefined);
  const input = useRef<HTMLInputElement>(null);

  useEffect(() => {
    if (!isFirst.current) setText(link ?? given ?? '');
    isFirst.current = false;
    setFault(given ? linkErrorOf(given) : undefined);
  }, [link, given]);
  // Focuses the field unless the page was opened with a link.
  useEffect(() => {
    if (!link) input.current?.focus({ preventScroll: true });
  }, []);

  useEffect(() => {
    const shortcut = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      const isEditable = target instanceof Element && target.closest('input, textarea, select, [contenteditable]');
      if (key !== '/' || isEditable || ctrlKey || metaKey || altKey) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener('keydown', shortcut);
    return () => removeEventListener('keydown', shortcut);
  }, []);

  const type = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    setText(currentTarget.value);
    setFault(undefined);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const found = linkFromText(text);
    if (found && found === link && isResolved && primaryAction.current) {
      primaryAction.current();
      return;
    }
    if (found) {
      onLinks([found]);
      return;
    }
    setFault(linkErrorOf(text));
    input.current?.focus();
  };
  const openLinks = (links: readonly string[]) => {
    setText(links.length === 1 ? (links[0] ?? '') : '');
    setFault(undefined);
    onLinks(links);
  };
  const paste = (event: ClipboardEvent) => {
    const links = linksFromTransfer(event.clipboardData);
    if (links.length === 0) return;
    event.preventDefault();
    openLinks(links);
  };
  const readClipboard = async () => {
    // Rejects where the visitor refuses.
    const copied = await navigator.clipboard.readText().catch(() => '');
    const links = linksFromText(copied);
    if (links.length > 0) return openLinks(links);
    setText(copied);
    setFault(copied ? linkErrorOf(copied) : undefined);
    input.current?.focus();
  };
  const clear = () => {
    setText('');
    setFault(undefined);
    onClear();
    input.current?.focus();
  };

  return (
    // The action is for the prerendered form.
    <form action="/" noValidate onSubmit={submit}>
      <div class="field" data-invalid={fault !== undefined}>
        <Icon name="link" />
        <input
          ref={input}
          type="url"
          name="url"
          inputMode="url"
          enterKeyHint="go"
          autoComplete="off"
          autoCapitalize="none"
          spellcheck={false}
          dir="ltr"
          aria-label={t('field.label')}
          aria-invalid={fault !== undefined}
          aria-describedby="field-message"
          placeholder={t('field.placeholder')}
          value={text}
          onInput={type}
          onPaste={paste}
        />
        {text && (
          <button type="button" class="button plain square" aria-label={t('field.clear')} onClick={clear}>
            <Icon name="close" />
          </button>
        )}
        {!text && canReadClipboard() && (
          <button
            type="button"
            class="button plain square"
            aria-label={t('field.paste')}
            title={t('field.paste')}
            onClick={readClipboard}
          >
            <Icon name="paste" />
          </button>
        )}
        <button type="submit" class="button primary">
          <Icon name="go" />
          <span class="word">{t('field.submit')}</span>
        </button>
      </div>
      <p class="field-message" id="field-message" role="alert">
        {fault && t(fault)}
      </p>
    </form>
  );
};

/** Not everywhere, and on HTTPS alone. */
const canReadClipboard = (): boolean => globalThis.navigator?.clipboard?.readText !== undefined;

/** What was typed into the prerendered field before the script had loaded. */
const textOfShell = (): string =>
  globalThis.document?.querySelector<HTMLInputElement>('#app input[name=url]')?.value ?? '';

/** The error for a text without a link. */
function linkErrorOf(text: string): TextKey {
  if (!text.trim()) return 'field.empty';
  return isTooLong(text) ? 'field.tooLong' : 'field.invalid';
}
