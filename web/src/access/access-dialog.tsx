import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { openLocalStore, readStored } from '../store.ts';
import { loadFirstTexts, type Texts, wantedLocales } from '../texts.ts';
import { rememberKey } from './access-key.ts';

/** The keys that an instance accepts. Escaped for the RegExp flag `v`, with which browsers read it. */
const KEY_PATTERN = '[\\w.~+\\/=\\-]{16,256}';

interface AccessDialogProps {
  readonly texts: Texts;
  readonly wasWrong: boolean;
  /** @param entered undefined when the visitor cancels */
  readonly onEnd: (entered: FormData | undefined) => void;
}

const AccessDialog = ({ texts: { t }, wasWrong, onEnd }: AccessDialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const end = () => onEnd(dialog.current?.returnValue && form.current ? new FormData(form.current) : undefined);
  return (
    <dialog ref={dialog} class="panel notice waiting" aria-labelledby="access-title" onClose={end}>
      <form ref={form} method="dialog">
        <h2 id="access-title">{t('access.title')}</h2>
        <p>{t('access.what', { host: location.host })}</p>
        <p>
          <label>
            {t('access.label')}{' '}
            <input
              type="password"
              name="key"
              autocomplete="current-password"
              pattern={KEY_PATTERN}
              required
              dir="ltr"
              aria-invalid={wasWrong}
            />
          </label>
        </p>
        <p>
          <label>
            <input name="isRemembered" type="checkbox" /> {t('access.remember')}
          </label>
        </p>
        <p role="alert">{wasWrong && t('access.wrong')}</p>
        <div class="row notice-actions">
          <button type="submit" value="entered" class="button">
            {t('access.submit')}
          </button>
          <button type="button" class="link" onClick={() => dialog.current?.close()}>
            {t('action.cancel')}
          </button>
        </div>
      </form>
    </dialog>
  );
};

/** Asks for the access key of the instance and stores it. @returns false when the visitor cancels */
export async function showAccessDialog(wasWrong: boolean): Promise<boolean> {
  const remembered = readStored(openLocalStore(), 'reelay.language');
  const texts = await loadFirstTexts(wantedLocales(navigator.languages, remembered));
  await texts.loadLazy();
  const root = document.body.appendChild(document.createElement('div'));
  return new Promise((resolve) => {
    const onEnd = (entered: FormData | undefined) => {
      if (entered) rememberKey(String(entered.get('key')), entered.has('isRemembered'));
      render(null, root);
      root.remove();
      resolve(entered !== undefined);
    };
    render(<AccessDialog texts={texts} wasWrong={wasWrong} onEnd={onEnd} />, root);
  });
}
