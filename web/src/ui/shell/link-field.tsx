import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isTooLong, linksFromText, pagePath, shareableLocation, textOfTransfer, unopenedLines } from '../../links.ts';
import type { TextKey } from '../../texts.ts';
import { usePage } from '../context.ts';
import { Button, Icon } from '../controls.tsx';
import { linkOf, type Outcome } from '../session.ts';

/** The input field for links; pasted ones are opened at once. */
export const LinkField = ({ outcome }: { readonly outcome: Outcome }) => {
  const { t, primaryAction } = usePage();
  const link = linkOf(outcome);
  /** Input that is not a link, for editing. */
  const given = outcome.phase === 'idle' ? outcome.text : undefined;
  const [fault, setFault] = useState<TextKey>();
  /** Lines beside the links that led to an address of this page. */
  const [skipped, setSkipped] = useState({ search: '', lines: '' });
  const input = useRef<HTMLInputElement>(null);
  /** @param isChecked whether to say what is wrong with it */
  const show = (text: string, isChecked = false) => {
    if (input.current) input.current.value = text;
    setFault(isChecked ? linkErrorOf(text) : undefined);
  };
  useLayoutEffect(() => {
    const shown = link ?? given;
    // Without a link, text typed into the prerendered field stays.
    if (shown) show(shown, given !== undefined);
    return () => show('');
  }, [link, given]);
  // Focuses the field unless the page was opened with a link.
  useEffect(() => {
    if (!link) input.current?.focus({ preventScroll: true });
  }, []);

  /** Opens all links of a text. Returns whether it has any. */
  const openText = (text: string): boolean => {
    const links = linksFromText(text);
    if (links.length === 0) return false;
    show(links.length === 1 ? (links[0] ?? '') : '');
    const address = shareableLocation(links);
    setSkipped({
      search: address.slice(pagePath().length + 1),
      lines: unopenedLines(text).join(', ').slice(0, MAX_CHARACTERS),
    });
    location.assign(address);
    return true;
  };
  useIncoming(input, openText);
  const submit = (event: Event) => {
    event.preventDefault();
    const text = input.current?.value ?? '';
    const [found, another] = linksFromText(text);
    const isShown = found !== undefined && !another && found === link && outcome.phase === 'resolved';
    if (isShown && primaryAction.current) primaryAction.current();
    // Several links leave the field empty, which Enter after a paste does not change.
    else if (!openText(text) && (text.trim() || outcome.phase !== 'batch')) {
      setFault(linkErrorOf(text));
      input.current?.focus();
    }
  };
  const paste = async () => {
    // Rejects when the visitor denies access.
    const copied = await navigator.clipboard.readText().catch(() => '');
    if (openText(copied)) return;
    show(copied, copied !== '');
    input.current?.focus();
  };
  const clear = () => {
    show('');
    location.assign('./');
    input.current?.focus();
  };

  return (
    // The action is for the prerendered form, which works without script.
    <form action="./" noValidate onSubmit={submit}>
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
          onInput={() => setFault(undefined)}
        />
        <Button look="plain clear" icon="close" name={t('field.clear')} onClick={clear} />
        {canReadClipboard() && <Button look="plain paste" icon="paste" name={t('field.paste')} onClick={paste} />}
        <Button type="submit" look="primary" icon="go">
          <span class="word">{t('field.submit')}</span>
        </Button>
      </div>
      <p class="field-message" id="field-message" role="alert">
        {fault
          ? t(fault)
          : skipped.lines && skipped.search === location.search && t('field.skipped', { lines: skipped.lines })}
      </p>
    </form>
  );
};

/** Of lines that are named. */
const MAX_CHARACTERS = 120;

/** Not in every browser, and only on HTTPS. */
const canReadClipboard = (): boolean => globalThis.navigator?.clipboard?.readText !== undefined;

/** The error for a text without a link. */
function linkErrorOf(text: string): TextKey {
  if (!text.trim()) return 'field.empty';
  return isTooLong(text) ? 'field.tooLong' : 'field.invalid';
}

const EDITABLE = 'input, textarea, select, [contenteditable]';

/** Accepts links pasted or dropped anywhere on the page, and the key `/`, which focuses the field. */
function useIncoming(field: RefObject<HTMLInputElement | null>, onText: (text: string) => boolean): void {
  useEffect(() => {
    const ended = new AbortController();
    const on = <K extends keyof WindowEventMap>(type: K, listener: (event: WindowEventMap[K]) => void) =>
      addEventListener(type, listener, { signal: ended.signal });
    /** Within another editable element, which handles its own input. */
    const isElsewhere = ({ target }: Event) =>
      target !== field.current && target instanceof Element && target.closest(EDITABLE) !== null;
    const take = (event: Event, data: DataTransfer | null) => {
      if (onText(textOfTransfer(data))) event.preventDefault();
    };
    const showDrop = (isOver: boolean) => document.body.classList.toggle('dropping', isOver);

    on('keydown', (event) => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      if (key !== '/' || target === field.current || isElsewhere(event) || ctrlKey || metaKey || altKey) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    });
    on('paste', (event) => isElsewhere(event) || take(event, event.clipboardData));
    on('dragover', (event) => {
      if (!event.dataTransfer?.types.some((type) => type === 'text/uri-list' || type === 'text/plain')) return;
      event.preventDefault();
      showDrop(true);
    });
    // dragleave also fires between elements: only leaving the window counts.
    on('dragleave', ({ relatedTarget }) => {
      if (!relatedTarget) showDrop(false);
    });
    on('drop', (event) => {
      showDrop(false);
      take(event, event.dataTransfer);
    });
    return () => ended.abort();
  }, []);
}
