-- Runs that look into the process, or that are given other surroundings.
ALTER TABLE runs ADD COLUMN special TEXT;      -- JSON: experiment and factors, or null for a plain run
ALTER TABLE runs ADD COLUMN observation TEXT;  -- JSON: what an experiment saw
