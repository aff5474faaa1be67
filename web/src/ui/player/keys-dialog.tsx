import { useEffect, useRef } from 'preact/hooks';
import { usePage } from '../context.ts';
import { LONG_SECONDS, SHORT_SECONDS } from './use-shortcuts.ts';

/** The keys of the player, until it is closed. */
export const KeysDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const { t } = usePage().texts;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const rows: readonly (readonly [keys: readonly string[], use: string])[] = [
    [[t('keys.space'), 'K'], t('keys.play')],
    [['←', '→'], t('keys.seek', { count: SHORT_SECONDS })],
    [['J', 'L'], t('keys.seek', { count: LONG_SECONDS })],
    [['M'], t('keys.mute')],
    [['F'], t('player.fullscreen')],
    [['Esc'], t('player.close')],
    [['/'], t('keys.field')],
    [['?'], t('keys.title')],
  ];
  return (
    <dialog ref={dialog} class="panel keys" aria-labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">{t('keys.title')}</h2>
      <dl>
        {rows.map(([keys, use]) => (
          <div key={use}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{use}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="button">
          {t('keys.close')}
        </button>
      </form>
    </dialog>
  );
};
