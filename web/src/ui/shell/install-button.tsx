import { useEffect } from 'preact/hooks';
import { createSubject } from '../../lib/index.ts';
import { useObservable, usePage } from '../context.ts';

/** BeforeInstallPromptEvent of Chromium, missing in the DOM types. */
interface InstallPrompt extends Event {
  prompt(): Promise<unknown>;
}

/** The browser offers it once per load, so it outlives the button that received it. */
const offer = createSubject<InstallPrompt | undefined>(undefined);

/** Shown when the browser offers installation. */
export const InstallButton = () => {
  const { t } = usePage().texts;
  const prompt = useObservable(offer);
  useEffect(() => {
    const keep = (event: Event) => {
      event.preventDefault();
      offer.set(event as InstallPrompt);
    };
    const done = () => offer.set(undefined);
    addEventListener('beforeinstallprompt', keep);
    addEventListener('appinstalled', done);
    return () => {
      removeEventListener('beforeinstallprompt', keep);
      removeEventListener('appinstalled', done);
    };
  }, []);
  if (!prompt) return null;
  const install = async () => {
    await prompt.prompt();
    // A prompt can be used once.
    offer.set(undefined);
  };
  return (
    <button type="button" class="link" onClick={install}>
      {t('footer.install')}
    </button>
  );
};
