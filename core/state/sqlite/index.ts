export { openSqliteStorage, type SqliteStorage } from './sqlite-storage.ts';
