"""The numbered steps that make a team's database, as SQL.

Row-level security decides what a role may see and do, whatever client it uses: it adds, marks and
deletes its own lines, under its own name. A team is a role of the server, and its members are the
roles that were granted it. The owner of the schema, and roles that may grant the team's role, can
delete any line. A deleted line disappears from every revision by its foreign keys, and leaves a
tombstone.
"""

_ROLES = """
CREATE SCHEMA pinfold;
GRANT USAGE ON SCHEMA pinfold TO PUBLIC;

CREATE FUNCTION pinfold.is_member(team text) RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM pg_roles
    WHERE rolname = team AND pg_has_role(current_user, oid, 'MEMBER'))
$$;

CREATE FUNCTION pinfold.is_owner(team text) RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT pg_has_role(current_user,
      (SELECT nspowner FROM pg_namespace WHERE nspname = 'pinfold'), 'MEMBER')
    OR EXISTS (SELECT FROM pg_roles
      WHERE rolname = team AND pg_has_role(current_user, oid, 'MEMBER WITH ADMIN OPTION'))
$$;
"""

_TABLES = """
CREATE TABLE pinfold.schema_version (version integer NOT NULL);
GRANT SELECT ON pinfold.schema_version TO PUBLIC;

CREATE TABLE pinfold.lines (
  team text NOT NULL,
  id text NOT NULL,
  owner name NOT NULL DEFAULT current_user,
  host text NOT NULL,
  session text NOT NULL,
  folder text NOT NULL,
  said text NOT NULL,
  stale text NOT NULL DEFAULT '',
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (team, id)
);
CREATE INDEX ON pinfold.lines (session);

CREATE TABLE pinfold.quotes (
  team text NOT NULL,
  line text NOT NULL,
  cite text NOT NULL,
  said text NOT NULL,
  file text NOT NULL DEFAULT '',
  file_hash text NOT NULL DEFAULT '',
  PRIMARY KEY (team, line, cite),
  FOREIGN KEY (team, line) REFERENCES pinfold.lines ON DELETE CASCADE
);

CREATE TABLE pinfold.tombstones (
  team text NOT NULL,
  line text NOT NULL,
  forgotten_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (team, line)
);

CREATE TABLE pinfold.hidden (
  team text NOT NULL,
  line text NOT NULL,
  role name NOT NULL DEFAULT current_user,
  PRIMARY KEY (team, line, role),
  FOREIGN KEY (team, line) REFERENCES pinfold.lines ON DELETE CASCADE
);

CREATE TABLE pinfold.jobs (
  kind text NOT NULL CHECK (kind IN ('publish', 'consolidate')),
  key text NOT NULL,
  team text NOT NULL,
  owner name NOT NULL DEFAULT current_user,
  host text NOT NULL DEFAULT '',
  status text NOT NULL DEFAULT 'waiting',
  token text,
  holder name,
  lease_until timestamptz,
  retry_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  error text,
  input text NOT NULL,
  done text,
  PRIMARY KEY (kind, key)
);
CREATE SEQUENCE pinfold.changes;

CREATE TABLE pinfold.revisions (
  team text NOT NULL,
  number integer NOT NULL,
  parent integer NOT NULL,
  author name NOT NULL DEFAULT current_user,
  made_at timestamptz NOT NULL DEFAULT now(),
  input text NOT NULL,
  PRIMARY KEY (team, number),
  CHECK (number = parent + 1)
);

CREATE TABLE pinfold.revision_lines (
  team text NOT NULL,
  number integer NOT NULL,
  file text NOT NULL CHECK (file IN ('MEMORY.md', 'memory_summary.md')),
  place integer NOT NULL,
  line text NOT NULL,
  PRIMARY KEY (team, number, file, place),
  FOREIGN KEY (team, number) REFERENCES pinfold.revisions ON DELETE CASCADE,
  FOREIGN KEY (team, line) REFERENCES pinfold.lines ON DELETE CASCADE
);
CREATE INDEX ON pinfold.revision_lines (team, line);
"""

_TRIGGERS = """
CREATE FUNCTION pinfold.added() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.id := encode(sha256(convert_to(
    concat_ws(E'\\n', NEW.team, NEW.owner, NEW.session, NEW.said), 'UTF8')), 'hex');
  NEW.since := clock_timestamp();
  IF EXISTS (SELECT FROM pinfold.tombstones t WHERE t.team = NEW.team AND t.line = NEW.id) THEN
    RETURN NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER added BEFORE INSERT ON pinfold.lines
  FOR EACH ROW EXECUTE FUNCTION pinfold.added();

CREATE FUNCTION pinfold.buried() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF current_setting('pinfold.withdraw', true) IS DISTINCT FROM 'on' THEN
    INSERT INTO pinfold.tombstones (team, line) VALUES (OLD.team, OLD.id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER buried AFTER DELETE ON pinfold.lines
  FOR EACH ROW EXECUTE FUNCTION pinfold.buried();

CREATE FUNCTION pinfold.changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO pinfold.jobs (kind, key, team, input)
    SELECT DISTINCT 'consolidate', team, team, nextval('pinfold.changes')::text
    FROM (SELECT DISTINCT team FROM touched) t
    ON CONFLICT (kind, key) DO UPDATE SET input = excluded.input;
  RETURN NULL;
END $$;
CREATE TRIGGER changed_by_insert AFTER INSERT ON pinfold.lines
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION pinfold.changed();
CREATE TRIGGER changed_by_update AFTER UPDATE ON pinfold.lines
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION pinfold.changed();
CREATE TRIGGER changed_by_delete AFTER DELETE ON pinfold.lines
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION pinfold.changed();

CREATE FUNCTION pinfold.held() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NEW.kind = 'consolidate' AND NOT pinfold.is_owner(NEW.team) THEN
    NEW.input := OLD.input;
    NEW.done := OLD.done;
    IF OLD.status = 'running' AND OLD.holder = current_user THEN
      NEW.retry_at := CASE NEW.status WHEN 'failed' THEN clock_timestamp() + interval '1 hour' END;
    ELSIF NEW.status <> 'running' OR NEW.holder <> current_user OR NEW.token IS NULL
        OR NEW.lease_until IS NULL THEN
      RAISE EXCEPTION 'it is not claimed' USING ERRCODE = 'PF003';
    ELSE
      NEW.retry_at := OLD.retry_at;
      NEW.error := OLD.error;
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER held BEFORE UPDATE ON pinfold.jobs
  FOR EACH ROW EXECUTE FUNCTION pinfold.held();

CREATE FUNCTION pinfold.revised() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE newest integer;
BEGIN
  PERFORM FROM pinfold.jobs j WHERE j.kind = 'consolidate' AND j.key = NEW.team
    AND j.status = 'running' AND j.holder = NEW.author AND j.lease_until > clock_timestamp()
    FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no lease' USING ERRCODE = 'PF001';
  END IF;
  SELECT coalesce(max(r.number), 0) INTO newest FROM pinfold.revisions r WHERE r.team = NEW.team;
  IF NEW.parent <> newest THEN
    RAISE EXCEPTION 'the parent is not the newest revision' USING ERRCODE = 'PF002';
  END IF;
  NEW.number := newest + 1;
  NEW.made_at := now();
  RETURN NEW;
END $$;
CREATE TRIGGER revised BEFORE INSERT ON pinfold.revisions
  FOR EACH ROW EXECUTE FUNCTION pinfold.revised();

CREATE FUNCTION pinfold.settled() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE pinfold.jobs SET done = NEW.input WHERE kind = 'consolidate' AND key = NEW.team;
  DELETE FROM pinfold.revisions WHERE team = NEW.team AND number <= NEW.number - 20;
  RETURN NULL;
END $$;
CREATE TRIGGER settled AFTER INSERT ON pinfold.revisions
  FOR EACH ROW EXECUTE FUNCTION pinfold.settled();
"""

_MEMBERS_SEE = ("lines", "quotes", "tombstones", "jobs", "revisions", "revision_lines")
_SECURITY = "".join(
    f"""
ALTER TABLE pinfold.{table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE pinfold.{table} FORCE ROW LEVEL SECURITY;
"""
    for table in (*_MEMBERS_SEE, "hidden")
) + "".join(
    f"""
CREATE POLICY see ON pinfold.{table} FOR SELECT
  USING (pinfold.is_member(team) OR pinfold.is_owner(team));
"""
    for table in _MEMBERS_SEE
)

_POLICIES = """
CREATE POLICY share ON pinfold.lines FOR INSERT
  WITH CHECK (owner = current_user AND pinfold.is_member(team));
CREATE POLICY mark ON pinfold.lines FOR UPDATE
  USING (owner = current_user) WITH CHECK (owner = current_user AND pinfold.is_member(team));
CREATE POLICY forget ON pinfold.lines FOR DELETE
  USING (owner = current_user OR pinfold.is_owner(team));
GRANT SELECT, INSERT, DELETE, UPDATE (stale) ON pinfold.lines TO PUBLIC;

CREATE POLICY share ON pinfold.quotes FOR INSERT WITH CHECK (EXISTS (SELECT FROM pinfold.lines l
  WHERE l.team = quotes.team AND l.id = quotes.line AND l.owner = current_user));
CREATE POLICY mark ON pinfold.quotes FOR UPDATE USING (EXISTS (SELECT FROM pinfold.lines l
  WHERE l.team = quotes.team AND l.id = quotes.line AND l.owner = current_user));
GRANT SELECT, INSERT, UPDATE (file_hash) ON pinfold.quotes TO PUBLIC;

CREATE POLICY bury ON pinfold.tombstones FOR INSERT WITH CHECK (pinfold.is_owner(team));
GRANT SELECT ON pinfold.tombstones TO PUBLIC;

CREATE POLICY own ON pinfold.hidden USING (role = current_user) WITH CHECK (role = current_user);
GRANT SELECT, INSERT, DELETE ON pinfold.hidden TO PUBLIC;

CREATE POLICY queue ON pinfold.jobs FOR INSERT WITH CHECK (owner = current_user
  AND (pinfold.is_owner(team) OR (kind = 'publish' AND pinfold.is_member(team))));
CREATE POLICY claim ON pinfold.jobs FOR UPDATE
  USING (pinfold.is_owner(team) OR (pinfold.is_member(team) AND CASE kind
    WHEN 'publish' THEN owner = current_user
    ELSE status <> 'running' OR holder = current_user OR lease_until <= clock_timestamp() END))
  WITH CHECK (pinfold.is_owner(team) OR ((holder IS NULL OR holder = current_user)
    AND (lease_until IS NULL OR lease_until <= clock_timestamp() + interval '2 hours')
    AND (retry_at IS NULL OR retry_at <= clock_timestamp() + interval '8 days')));
CREATE POLICY drop_own ON pinfold.jobs FOR DELETE USING (kind = 'publish' AND owner = current_user);
GRANT SELECT, INSERT, DELETE, UPDATE (host, status, token, holder, lease_until, retry_at, attempts,
  error, input, done) ON pinfold.jobs TO PUBLIC;

CREATE POLICY revise ON pinfold.revisions FOR INSERT
  WITH CHECK (author = current_user AND pinfold.is_member(team));
CREATE POLICY prune ON pinfold.revisions FOR DELETE USING (pinfold.is_owner(team));
GRANT SELECT, INSERT ON pinfold.revisions TO PUBLIC;

CREATE POLICY revise ON pinfold.revision_lines FOR INSERT
  WITH CHECK (EXISTS (SELECT FROM pinfold.revisions r WHERE r.team = revision_lines.team
    AND r.number = revision_lines.number AND r.author = current_user AND r.made_at = now()));
GRANT SELECT, INSERT ON pinfold.revision_lines TO PUBLIC;
"""

STEPS: tuple[str, ...] = (_ROLES + _TABLES + _TRIGGERS + _SECURITY + _POLICIES,)
"""The n-th goes from version n to n + 1. What a released step does never changes."""
