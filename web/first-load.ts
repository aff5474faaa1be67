/** Modules that every page loads first. Their texts are in `web/locales`, those of all others in `web/locales/lazy`. */
export const FIRST_LOAD =
  /preact|web\/src\/(?:api|lib|download|renditions|ui\/controls|ui\/[\w-]+\.ts|ui\/shell\/(?!resolved|proposed))/;
