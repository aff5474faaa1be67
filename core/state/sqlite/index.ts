export { isDiskNearlyFull, openSqliteStorage, type SqliteStorage } from './sqlite-storage.ts';
