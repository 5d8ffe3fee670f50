-- Which text the views were made from, so that a program with newer views makes them anew.
alter table schema_version add column views varchar;
