import { useEffect, useState } from 'preact/hooks';
import { usePage } from '../context.ts';

/** BeforeInstallPromptEvent of Chromium, missing in the DOM types. */
interface InstallPrompt extends Event {
  prompt(): Promise<unknown>;
}

/** Shown when the browser offers installation. */
export const InstallButton = () => {
  const { t } = usePage().texts;
  const [offer, setOffer] = useState<InstallPrompt>();
  useEffect(() => {
    const keep = (event: Event) => {
      event.preventDefault();
      setOffer(event as InstallPrompt);
    };
    const done = () => setOffer(undefined);
    addEventListener('beforeinstallprompt', keep);
    addEventListener('appinstalled', done);
    return () => {
      removeEventListener('beforeinstallprompt', keep);
      removeEventListener('appinstalled', done);
    };
  }, []);
  if (!offer) return null;
  const install = async () => {
    await offer.prompt();
    // A prompt can be used once.
    setOffer(undefined);
  };
  return (
    <button type="button" class="link" onClick={install}>
      {t('footer.install')}
    </button>
  );
};
