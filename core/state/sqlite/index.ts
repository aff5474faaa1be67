export { isDiskNearlyFull } from './data-folder.ts';
export { openSqliteStorage, type SqliteStorage } from './sqlite-storage.ts';
