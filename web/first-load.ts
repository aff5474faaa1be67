/** Modules that every page loads first. Their texts are in `web/locales`, those of all others in `web/locales/lazy`. */
export const FIRST_LOAD = new RegExp(
  [
    'preact|preload-helper|clients/reelay-client/src|web/src/(?:(?:api|lib)/|ui/controls/(?!next-try|use-countdown)',
    String.raw`|ui/(?!failure|signed)[\w-]+\.ts|ui/shell/(?!shown|history)`,
    String.raw`|renditions/(?:index|choice)\.ts)`,
  ].join(''),
);
