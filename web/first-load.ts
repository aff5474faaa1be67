/** Modules that every page loads first. Their texts are in `web/locales`, those of all others in `web/locales/lazy`. */
export const FIRST_LOAD = new RegExp(
  [
    String.raw`preact|preload-helper|clients/reelay-client/src|web/src/(?:api/|(?!main|preload)[\w-]+\.ts|ui/shell/(?!shown|history)`,
    String.raw`|ui/(?!cover|details|download-note|failure|next-try|player|ranges|signed|trimmer)[\w-]+\.ts`,
    String.raw`|renditions/(?:index|choice)\.ts)`,
  ].join(''),
);
