import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { loadFirstTexts, openLocalStore, readStored, type Texts, wantedLocales } from '../lib/index.ts';
import type { Entered } from './stored-key.ts';

type Check = (entered: Entered) => Promise<boolean>;

/** What an instance accepts as a key; read with the flag `v`, which reserves more characters. */
const KEY_PATTERN = '[\\w.~+\\/=\\-]{16,256}';

interface AccessDialogProps {
  readonly texts: Texts;
  readonly host: string;
  readonly check: Check;
  readonly onEnd: (key: string | undefined) => void;
}

const AccessDialog = ({ texts: { t }, host, check, onEnd }: AccessDialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const remember = useRef<HTMLInputElement>(null);
  const [state, setState] = useState<'idle' | 'checking' | 'wrong'>('idle');
  useEffect(() => dialog.current?.showModal(), []);

  const submit = async (event: Event) => {
    event.preventDefault();
    const key = input.current?.value.trim() ?? '';
    setState('checking');
    const isAccepted = await check({ key, isRemembered: remember.current?.checked === true }).catch(() => false);
    if (isAccepted) return onEnd(key);
    setState('wrong');
    input.current?.select();
  };

  return (
    <dialog ref={dialog} class="panel notice waiting" aria-labelledby="access-title" onClose={() => onEnd(undefined)}>
      <form onSubmit={submit}>
        <h2 id="access-title">{t('access.title')}</h2>
        <p>{t('access.what', { host })}</p>
        <p>
          <label>
            {t('access.label')}{' '}
            <input
              ref={input}
              type="password"
              name="access-key"
              autocomplete="current-password"
              pattern={KEY_PATTERN}
              required
              dir="ltr"
              aria-invalid={state === 'wrong'}
            />
          </label>
        </p>
        <p>
          <label>
            <input ref={remember} type="checkbox" /> {t('access.remember')}
          </label>
        </p>
        <p role="alert">{state === 'wrong' && t('access.wrong')}</p>
        <div class="row notice-actions">
          <button type="submit" class="button" disabled={state === 'checking'}>
            {t('access.submit')}
          </button>
          <button type="button" class="link" onClick={() => onEnd(undefined)}>
            {t('access.cancel')}
          </button>
        </div>
      </form>
    </dialog>
  );
};

/** Asks for the access key of an instance until `check` accepts it. @returns undefined when the visitor cancels */
export async function showAccessDialog(host: string, check: Check): Promise<string | undefined> {
  const remembered = readStored(openLocalStore(), 'reelay.language');
  const texts = await loadFirstTexts(wantedLocales(navigator.languages, remembered));
  await texts.loadLazy();
  const root = document.body.appendChild(document.createElement('div'));
  return new Promise((resolve) => {
    const onEnd = (key: string | undefined) => {
      render(null, root);
      root.remove();
      resolve(key);
    };
    render(<AccessDialog texts={texts} host={host} check={check} onEnd={onEnd} />, root);
  });
}
